use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param] most: f64, #[param] most: f64) -> bool {
    given < most
}

fn main() {}
