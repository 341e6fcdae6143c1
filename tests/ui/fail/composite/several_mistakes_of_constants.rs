use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(range = 0.0..=1.0, threshold = 0.1, lower_is_better)]
fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

#[metric(tier = truth, cost = "100 msat", range = 0.0..=1.0, threshold = 0.5)]
async fn judged(#[pred] answer: &str) -> f64 {
    if answer.is_empty() { 0.0 } else { 1.0 }
}

#[metric]
fn words(#[pred] answer: &str) -> usize {
    answer.split_whitespace().count()
}

#[metric(
    weighted(overlap = 0.5, error_rate = 0.25, all(judged, words) = 0.25),
    tier = proxy,
    budget = "50 msat",
    threshold = 2,
)]
struct Blend;

fn main() {}
