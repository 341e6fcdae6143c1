use dsrs_metrics::prelude::*;

struct Interval(f64, f64);

#[metric]
fn overlap(#[gold] given: &[Interval], #[pred] other: Option<Vec<Interval>>) -> bool {
    other.is_some_and(|other| other.len() == given.len() && given[0].0 == given[0].1)
}

fn main() {}
