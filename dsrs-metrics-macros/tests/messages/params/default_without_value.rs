use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(default =)] given: u8) -> bool {
    given == 0
}

fn main() {}
