use dsrs_metrics::prelude::*;
use dsrs_metrics::Evaluate;

#[metric]
fn empty(#[pred] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {
    let _ = Evaluate::builder().metrics(Empty);
}
