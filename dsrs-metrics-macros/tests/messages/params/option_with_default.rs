use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(default)] given: Option<&str>) -> bool {
    given.is_none()
}

fn main() {}
