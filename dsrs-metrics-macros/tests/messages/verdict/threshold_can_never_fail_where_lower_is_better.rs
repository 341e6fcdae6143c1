use dsrs_metrics::prelude::*;

#[metric(threshold = 1.0, range = 0.0..=1.0, lower_is_better)]
fn error_rate(#[pred] rate: f64) -> f64 {
    rate
}

fn main() {}
