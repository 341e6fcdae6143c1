use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred(missing, default = "")] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
