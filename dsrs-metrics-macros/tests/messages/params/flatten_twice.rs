use dsrs_metrics::prelude::*;

#[metric]
fn overlap(
    #[pred] given: f64,
    #[param(flatten)] settings: &Settings,
    #[param(flatten)] again: Settings,
    #[param(flatten)] settings: &Others,
) -> bool {
    given > 0.0
}
