use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, Default)]
struct Limits {
    least: f64,
}

#[metric]
fn overlap(#[pred] given: f64, #[param(flatten)] limits: &Limits) -> bool {
    given >= limits.least
}

#[metric]
fn overlap_at_least(#[pred] given: f64, #[param(flatten)] least: f64) -> bool {
    given >= least
}

fn main() {
    let _ = Overlap::default().score(&example! {}, &prediction! {});
}
