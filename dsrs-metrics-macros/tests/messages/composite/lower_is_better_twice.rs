use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0, threshold = 0.1, lower_is_better)]
fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(min(error_rate, overlap, error_rate))]
struct Least;

fn main() {}
