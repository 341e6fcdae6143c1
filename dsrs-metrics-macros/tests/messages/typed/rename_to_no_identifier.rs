use dsrs_metrics::prelude::*;

struct Gold {
    weight: f64,
}

#[metric(gold = Gold)]
fn weight(#[gold("the weight")] weight: f64) -> f64 {
    weight
}

fn main() {}
