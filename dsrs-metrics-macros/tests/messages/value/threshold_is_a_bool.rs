use dsrs_metrics::prelude::*;

#[metric(threshold = true)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
