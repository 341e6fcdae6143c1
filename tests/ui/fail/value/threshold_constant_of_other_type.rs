use dsrs_metrics::prelude::*;

const LIMIT: u32 = 1;

#[metric(threshold = LIMIT)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
