use dsrs_metrics::prelude::*;

struct Gold {
    share: f64,
}

#[metric(gold = "Gold")]
fn overlap(#[gold] share: f64) -> f64 {
    share
}

fn main() {}
