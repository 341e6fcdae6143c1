use dsrs_metrics::prelude::*;

fn limit() -> f64 {
    0.5
}

#[metric(threshold = limit())]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
