use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(missing =)] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
