use dsrs_metrics::prelude::*;

#[metric(threshold = f64::NAN)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
