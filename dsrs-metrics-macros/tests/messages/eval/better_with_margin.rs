use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1.better(by = 0.02)), baseline)]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
