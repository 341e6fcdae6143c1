use dsrs_metrics::prelude::*;

#[metric(tier = cheap, cost = "5", range = 1.0..=0.0, name = "Overlap", version = "", crate = other)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
