use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: f64, #[cfg(any())] #[param] most: f64) -> bool {
    given < 0.5
}

fn main() {}
