use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8))]
async fn answers((question, _): (String, u8)) -> Prediction { program(question).await }

fn main() {}
