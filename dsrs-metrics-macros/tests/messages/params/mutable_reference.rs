use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: &mut String) -> bool {
    given.is_empty()
}

fn main() {}
