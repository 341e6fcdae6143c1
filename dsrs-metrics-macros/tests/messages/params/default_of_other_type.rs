use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(default = "none")] given: f64) -> bool {
    given > 0.0
}

fn main() {}
