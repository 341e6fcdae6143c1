use dsrs_metrics::prelude::*;

#[metric(cost = 100)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
