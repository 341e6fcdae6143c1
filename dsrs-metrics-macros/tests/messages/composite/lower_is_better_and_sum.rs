use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(range = 0.0..=1.0, threshold = 0.1, lower_is_better)]
fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

#[metric(weighted(overlap = 0.5, error_rate = 0.4))]
struct Blend;

fn main() {}
