use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

#[metric(struct = Overlap)]
fn other(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
