use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: impl AsRef<str>) -> bool {
    given.as_ref().is_empty()
}

fn main() {}
