use dsrs_metrics::prelude::*;

#[metric(cost = "-1 msat")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
