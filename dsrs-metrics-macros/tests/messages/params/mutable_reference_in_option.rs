use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: Option<&mut String>) -> bool {
    given.is_none()
}

fn main() {}
