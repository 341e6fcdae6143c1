use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0, missing = "0")]
fn overlap(#[pred] answer: f64) -> f64 {
    answer
}

fn main() {}
