use dsrs_metrics::prelude::*;

struct Overlap;

#[metric]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
