use dsrs_metrics::prelude::*;

#[derive(serde::Deserialize)]
struct Limit(f64);

#[metric]
fn overlap(#[pred(default)] given: Limit) -> bool {
    given.0 > 0.0
}

fn main() {}
