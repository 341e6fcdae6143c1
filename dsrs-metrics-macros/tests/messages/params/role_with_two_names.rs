use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred("answer", "response")] given: &str) -> bool {
    given.is_empty()
}

fn main() {}
