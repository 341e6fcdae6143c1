use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0, threshold = 0.1, lower_is_better)]
fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

#[metric]
fn words(#[pred] answer: &str) -> usize {
    answer.split_whitespace().count()
}

#[metric(all(error_rate, words))]
struct Every;

fn main() {}
