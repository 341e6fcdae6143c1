use dsrs_metrics::prelude::*;

#[derive(Debug)]
struct Limit(f64);

#[metric]
fn overlap(#[pred] given: f64, #[param] most: Limit) -> bool {
    given < most.0
}

fn main() {}
