use dsrs_metrics::prelude::*;

const WORST: f64 = -1.0;

#[metric(range = 0.0..=1.0, missing = WORST)]
fn overlap(#[pred] answer: f64) -> f64 {
    answer
}

fn main() {}
