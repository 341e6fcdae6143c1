use dsrs_metrics::prelude::*;

struct Gold {
    weight: f64,
}

struct Other {
    weight: f64,
}

#[metric(gold = Gold)]
fn weight(#[gold] weight: f64) -> f64 {
    weight
}

fn main() {
    let _ = Weight.score(&Other { weight: 0.5 }, &prediction! {});
}
