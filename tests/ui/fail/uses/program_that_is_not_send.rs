use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

async fn evaluate(evaluate: Evaluate) {
    let program = |_: Example| async {
        let client = std::rc::Rc::new("client");
        std::future::ready(()).await;
        prediction! { "answer" => *client }
    };
    let _ = evaluate.run(program).await;
}

fn main() {}
