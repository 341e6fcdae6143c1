use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(range = 0.0..=1.0, threshold = 0.5)]
fn length(#[pred] answer: &str) -> f64 {
    if answer.len() < 80 { 1.0 } else { 0.0 }
}

#[metric(all(format_ok, length), threshold = 0.5, strict)]
struct Every;

fn main() {}
