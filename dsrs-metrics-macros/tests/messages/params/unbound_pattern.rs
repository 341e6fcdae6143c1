use dsrs_metrics::prelude::*;

#[metric]
fn overlap((left, right): (f64, f64)) -> f64 {
    left - right
}

fn main() {}
