use dsrs_metrics::prelude::*;

#[metric(crate = ::no_such_crate)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
