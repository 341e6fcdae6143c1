use dsrs_metrics::prelude::*;

#[answer]
fn tone() {}

fn main() {}
