use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred] reply_length: f64) -> f64 {
    1.0 - (answer - reply_length).abs().min(1.0)
}

#[metric(tree(overlap { yes => 1.0, no => 0.0 }))]
struct Whole;

fn main() {}
