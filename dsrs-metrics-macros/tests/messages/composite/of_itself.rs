use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[pred] overlap: f64) -> f64 {
    overlap
}

#[metric(weighted(overlap = 0.5, min(overlap, endless) = 0.5))]
struct Endless;

fn main() {}
