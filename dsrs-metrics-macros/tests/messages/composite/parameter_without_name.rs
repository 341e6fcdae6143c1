use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[metric(range = 0.0..=1.0)]
fn scaled(#[pred] share: f64, #[param] by: f64, #[param(default = 1.0)] most: f64) -> f64 {
    (share * by).min(most)
}

#[metric(min(overlap, scaled(0.5)))]
struct Least;

fn main() {}
