use dsrs_metrics::prelude::*;

struct Limits {
    least: f64,
}

#[metric]
fn overlap(#[pred] given: f64, #[param(flatten)] limits: &Limits) -> bool {
    given >= limits.least
}

fn main() {}
