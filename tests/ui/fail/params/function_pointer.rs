use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: fn() -> bool) -> bool {
    given()
}

fn main() {}
