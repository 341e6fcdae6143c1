use dsrs_metrics::prelude::*;

#[metric(range = 1..=1)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
