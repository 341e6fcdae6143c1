use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[gold] #[pred] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
