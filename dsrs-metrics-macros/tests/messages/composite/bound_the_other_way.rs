use dsrs_metrics::prelude::*;

#[metric]
fn format_ok(#[pred] answer: &str) -> bool {
    !answer.is_empty()
}

#[metric(range = 0.0..=1.0, threshold = 0.1, lower_is_better)]
fn error_rate(#[pred] errors: f64) -> f64 {
    errors
}

#[metric(all(format_ok, error_rate <= 0.1))]
struct Every;

fn main() {}
