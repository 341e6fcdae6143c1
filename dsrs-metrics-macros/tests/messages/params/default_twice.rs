use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(default = 1, default = 2)] given: u8) -> bool {
    given == 0
}

fn main() {}
