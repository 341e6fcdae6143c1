use dsrs_metrics::prelude::*;

#[metric(tier = gold)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
