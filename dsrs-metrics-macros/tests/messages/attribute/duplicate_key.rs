use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5, tier = proxy, threshold = 0.6)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
