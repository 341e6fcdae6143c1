use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

async fn program(_: Example) -> Prediction {
    prediction! {}
}

async fn evaluate(evaluate: Evaluate) {
    let _ = evaluate.run(program(example! {})).await;
}

fn main() {}
