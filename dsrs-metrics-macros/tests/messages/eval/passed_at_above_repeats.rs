use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(em), gate(em.passed_at(5) >= 0.9), repeats = 3)]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
