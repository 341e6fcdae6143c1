use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8))]
async fn answers(#[input(question)] q: String) -> Prediction { program(q).await }

fn main() {}
