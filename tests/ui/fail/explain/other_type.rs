use dsrs_metrics::prelude::*;

#[metric(explain = explain_near)]
fn near(#[gold] value: f64, #[pred("value")] guess: f64, #[param(default = 0.5)] within: f64) -> bool {
    (value - guess).abs() <= within
}

fn explain_near(value: &str, _guess: f64, _within: f64, _score: f64) -> String {
    value.to_owned()
}

fn main() {}
