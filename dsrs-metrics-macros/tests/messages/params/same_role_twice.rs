use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] #[pred] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
