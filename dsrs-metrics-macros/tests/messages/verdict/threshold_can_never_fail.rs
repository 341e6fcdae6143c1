use dsrs_metrics::prelude::*;

#[metric(threshold = 0.0, range = 0.0..=1.0)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
