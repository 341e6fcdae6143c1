use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[pred] overlap: f64) -> f64 {
    overlap
}

#[metric(weighted(std::string::String = 0.5, overlap = 0.5))]
struct Mixed;

fn main() {}
