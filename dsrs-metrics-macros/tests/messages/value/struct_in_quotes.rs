use dsrs_metrics::prelude::*;

#[metric(struct = "WordOverlap")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
