use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5)]
struct Blend;

fn main() {}
