use dsrs_metrics::prelude::*;

#[metric(struct = Vec)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
