use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[param(default = "0.8")] most: f64) -> bool {
    given < most
}

fn main() {}
