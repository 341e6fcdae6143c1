use dsrs_metrics::prelude::*;

#[metric(name = "WordOverlap")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
