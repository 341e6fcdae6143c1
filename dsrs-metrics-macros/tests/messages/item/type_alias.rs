use dsrs_metrics::prelude::*;

#[metric]
type Overlap = f64;

fn main() {}
