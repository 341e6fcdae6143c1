use dsrs_metrics::prelude::*;

const LIMIT: f64 = 0.0;

#[metric(threshold = LIMIT, range = 0.0..=1.0)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
