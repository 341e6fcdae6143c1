use dsrs_metrics::prelude::*;

#[metric(weighted())]
struct Blend;

fn main() {}
