use dsrs_metrics::prelude::*;

enum Gold {
    Weight(f64),
}

#[metric(gold = Gold)]
fn weight(#[gold] weight: f64) -> f64 {
    weight
}

fn main() {}
