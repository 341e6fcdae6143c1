use dsrs_metrics::prelude::*;

#[metric(explain = 0.5)]
fn share(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
