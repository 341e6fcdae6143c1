use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

async fn evaluate(evaluate: Evaluate) {
    let client = String::from("client");
    let _ = evaluate.run(move |_: Example| async move { prediction! { "answer" => client } }).await;
}

fn main() {}
