use dsrs_metrics::prelude::*;

#[metric]
fn overlap(answer: &str, #[pred] given: &str) -> bool {
    answer == given
}

fn main() {}
