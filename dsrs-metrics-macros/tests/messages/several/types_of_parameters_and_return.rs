use dsrs_metrics::prelude::*;

struct Interval(f64, f64);

#[metric]
fn overlap(#[gold] gold: Interval, #[pred] pred: &Interval) -> (f64, f64) {
    (gold.0, pred.1)
}

fn main() {}
