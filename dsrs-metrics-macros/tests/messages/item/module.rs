use dsrs_metrics::prelude::*;

#[metric]
mod metrics {}

fn main() {}
