use dsrs_metrics::prelude::*;

#[metric(crate = dsrs_metrics)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
