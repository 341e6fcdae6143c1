use dsrs_metrics::prelude::*;

#[eval(devset = "/x.jsonl", metrics(f1), gate(f1 > 0.8, f1.no_worse(by = 0.02)), repeats = 0)]
async fn answers(question: String) -> Prediction {
    program(question).await
}

fn main() {}
