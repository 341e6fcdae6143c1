use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param] (low, high): (f64, f64)) -> bool {
    low <= given && given <= high
}

fn main() {}
