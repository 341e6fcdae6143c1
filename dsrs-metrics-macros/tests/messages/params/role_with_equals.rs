use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred = "answer"] given: &str) -> bool {
    given.is_empty()
}

fn main() {}
