use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

async fn evaluate(evaluate: Evaluate) {
    let _ = evaluate.run(|_: Example| prediction! {}).await;
}

fn main() {}
