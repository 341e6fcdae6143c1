use dsrs_metrics::prelude::*;

#[metric(version = 1.2)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
