use dsrs_metrics::prelude::*;

#[metric(missing)]
fn overlap(#[pred] answer: f64) -> f64 {
    answer
}

fn main() {}
