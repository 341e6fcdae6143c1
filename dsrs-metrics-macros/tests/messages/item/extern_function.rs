use dsrs_metrics::prelude::*;

#[metric]
extern "C" fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
