use dsrs_metrics::prelude::*;

#[metric(version = "")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
