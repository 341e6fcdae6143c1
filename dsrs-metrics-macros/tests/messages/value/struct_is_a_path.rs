use dsrs_metrics::prelude::*;

#[metric(struct = metrics::Overlap)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
