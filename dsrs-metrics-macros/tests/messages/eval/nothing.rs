use dsrs_metrics::prelude::*;

#[eval]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
