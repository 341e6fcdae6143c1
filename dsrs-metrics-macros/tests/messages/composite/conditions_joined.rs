use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[pred] overlap: f64) -> f64 {
    overlap
}

#[metric]
fn format_ok(#[pred] format: bool) -> bool {
    format
}

#[metric(all(overlap >= 0.5 && format_ok))]
struct Joined;

fn main() {}
