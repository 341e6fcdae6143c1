use dsrs_metrics::prelude::*;

#[metric("overlap")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
