use dsrs_metrics::metrics::F1;
use dsrs_metrics::prelude::*;

#[derive(Record, serde::Serialize)]
struct Routed {
    queue: String,
}

#[eval(devset = "evals/x.jsonl", metrics(f1), gate(f1 >= 0.8))]
fn route(message: String) -> Routed {
    Routed { queue: message }
}

fn main() {}
