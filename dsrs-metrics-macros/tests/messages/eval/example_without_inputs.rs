use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8))]
async fn answers(row: Example) -> Prediction { program(row).await }

fn main() {}
