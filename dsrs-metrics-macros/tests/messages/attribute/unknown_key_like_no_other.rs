use dsrs_metrics::prelude::*;

#[metric(weight = 0.5)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
