use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5, strict lower_is_better)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
