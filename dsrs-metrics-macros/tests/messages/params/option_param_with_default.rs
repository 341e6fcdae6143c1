use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: usize, #[param(default)] most: Option<usize>) -> bool {
    most.is_none_or(|most| given < most)
}

fn main() {}
