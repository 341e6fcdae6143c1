use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: Share) -> bool {
    given.is_empty()
}

fn main() {}
