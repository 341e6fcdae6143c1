use dsrs_metrics::prelude::*;

#[metric]
fn words(#[pred] answer: &str) -> usize {
    answer.split_whitespace().count()
}

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(min(overlap, invert(words)))]
struct Least;

fn main() {}
