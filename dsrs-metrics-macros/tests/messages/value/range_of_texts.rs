use dsrs_metrics::prelude::*;

#[metric(range = "low"..="high")]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
