use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> Vec<f64> {
    vec![share]
}

fn main() {}
