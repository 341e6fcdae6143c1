use dsrs_metrics::prelude::*;

#[metric(threshold = 80%)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
