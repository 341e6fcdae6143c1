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

#[metric(range = 0.0..=1.0, threshold = 0.5)]
fn length(#[pred] answer: &str) -> f64 {
    if answer.len() < 80 { 1.0 } else { 0.0 }
}

#[metric(
    weighted(overlap = 0.5, error_rate = -0.25, min(judged, length >= 0.5) = 0.5, overlap = 0.25),
    tier = cheap,
    budget = "50",
    strickt,
)]
struct Blend;

fn main() {}
