use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(missing = None)] answer: Option<&str>) -> bool {
    answer.is_some()
}

fn main() {}
