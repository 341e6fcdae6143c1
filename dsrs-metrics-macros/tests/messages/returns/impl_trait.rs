use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> impl Into<f64> {
    share
}

fn main() {}
