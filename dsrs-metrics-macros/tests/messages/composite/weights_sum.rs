use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(range = 0.0..=1.0, threshold = 0.5)]
fn length(#[pred] answer: &str) -> f64 {
    if answer.len() < 80 { 1.0 } else { 0.0 }
}

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(weighted(overlap = 0.1, length = 0.2, format_ok = 0.65))]
struct Blend;

fn main() {}
