use dsrs_metrics::prelude::*;

#[judge_output]
fn tone() {}

fn main() {}
