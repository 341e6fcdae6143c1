use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] (left, right): (f64, f64)) -> f64 {
    left - right
}

fn main() {}
