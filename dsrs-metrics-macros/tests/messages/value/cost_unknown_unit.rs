use dsrs_metrics::prelude::*;

#[metric(cost = "0.02 EUR")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
