use dsrs_metrics::prelude::*;

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8), inputs(question))]
async fn answers(question: String, context: String) -> Prediction { program(question, context).await }

fn main() {}
