use dsrs_metrics::prelude::*;

#[metric(struct = fn)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
