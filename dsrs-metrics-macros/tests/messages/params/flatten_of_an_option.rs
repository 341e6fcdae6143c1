use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param(flatten)] settings: Option<&Settings>) -> bool {
    given > 0.0
}

#[metric]
fn overlap_of_owned(#[pred] given: f64, #[param(flatten)] settings: Option<Settings>) -> bool {
    given > 0.0
}
