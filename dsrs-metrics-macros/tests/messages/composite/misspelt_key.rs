use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(range = 0.0..=1.0, threshold = 0.5)]
fn length(#[pred] answer: &str) -> f64 {
    if answer.len() < 80 { 1.0 } else { 0.0 }
}

#[metric(min(overlap, length), treshold = 0.5)]
struct Least;

fn main() {}
