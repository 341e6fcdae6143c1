use dsrs_metrics::prelude::*;

#[metric]
const THRESHOLD: f64 = 0.5;

fn main() {}
