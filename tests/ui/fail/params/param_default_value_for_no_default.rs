use dsrs_metrics::prelude::*;

struct Limit(f64);

#[metric]
fn overlap(#[pred] given: f64, #[param(default)] most: &Limit) -> bool {
    given < most.0
}

fn main() {}
