use dsrs_metrics::prelude::*;

const LOW: f64 = 5.0;
const HIGH: f64 = 0.0;

#[metric(range = LOW..=HIGH)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
