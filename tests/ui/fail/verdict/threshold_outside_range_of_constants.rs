use dsrs_metrics::prelude::*;

const STARS: f64 = 5.0;

#[metric(threshold = 6.0, range = 1.0..=STARS)]
fn rating(#[pred] stars: f64) -> f64 {
    stars
}

fn main() {}
