use dsrs_metrics::prelude::*;

#[metric(range = ..=1.0)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
