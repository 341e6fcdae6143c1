use dsrs_metrics::prelude::*;

mod rows {
    pub struct Gold {
        weight: f64,
    }
}

#[metric(gold = rows::Gold)]
fn weight(#[gold] weight: f64) -> f64 {
    weight
}

fn main() {}
