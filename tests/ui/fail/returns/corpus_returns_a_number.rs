use dsrs_metrics::prelude::*;

#[metric(corpus)]
fn share(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
