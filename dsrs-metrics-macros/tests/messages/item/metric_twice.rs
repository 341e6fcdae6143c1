use dsrs_metrics::prelude::*;

#[metric]
#[metric]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
