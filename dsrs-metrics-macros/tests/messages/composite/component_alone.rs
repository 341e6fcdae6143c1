use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(overlap, threshold = 0.5)]
struct Blend;

fn main() {}
