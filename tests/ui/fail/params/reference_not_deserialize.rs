use dsrs_metrics::prelude::*;

struct Interval(f64, f64);

#[metric]
fn overlap(#[gold] given: &Interval) -> bool {
    given.0 < given.1
}

fn main() {}
