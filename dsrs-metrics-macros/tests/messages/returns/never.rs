use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> ! {
    panic!("{share}")
}

fn main() {}
