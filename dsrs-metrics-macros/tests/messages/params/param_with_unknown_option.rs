use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param(min = 0.0)] most: f64) -> bool {
    given < most
}

fn main() {}
