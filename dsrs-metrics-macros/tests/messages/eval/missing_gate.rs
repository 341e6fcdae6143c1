use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1))]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
