use dsrs_metrics::prelude::*;

#[metric(threshold = 1e999)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
