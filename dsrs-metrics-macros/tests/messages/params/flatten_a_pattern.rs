use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param(flatten)] Settings { least }: &Settings) -> bool {
    given > *least
}
