use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5)]
struct Overlap;

fn main() {}
