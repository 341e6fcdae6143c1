use dsrs_metrics::prelude::*;

struct Gold {
    weight: f64,
}

#[metric(gold = Gold)]
fn weight(gold: &Example) -> bool {
    gold.get("weight").is_some()
}

fn main() {}
