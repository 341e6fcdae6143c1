use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: &'static str) -> bool {
    given.is_empty()
}

fn main() {}
