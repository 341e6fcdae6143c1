use dsrs_metrics::prelude::*;

struct Gold {
    weight: f64,
}

struct Other {
    weight: f64,
}

#[metric(gold = Gold)]
fn weight(gold: &Other) -> f64 {
    gold.weight
}

fn main() {}
