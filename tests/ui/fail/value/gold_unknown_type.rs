use dsrs_metrics::prelude::*;

#[metric(gold = Gold)]
fn overlap(#[gold] share: f64) -> f64 {
    share
}

fn main() {}
