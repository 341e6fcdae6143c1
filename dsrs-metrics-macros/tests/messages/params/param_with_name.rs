use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param("limit")] most: f64) -> bool {
    given < most
}

fn main() {}
