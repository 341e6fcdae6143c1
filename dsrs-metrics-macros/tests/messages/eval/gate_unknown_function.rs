use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(lowr(f1) >= 0.8))]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
