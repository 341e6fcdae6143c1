use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(em), gate(passed_at(3) >= 0.9))]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
