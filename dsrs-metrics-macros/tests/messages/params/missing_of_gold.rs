use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[gold(missing)] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
