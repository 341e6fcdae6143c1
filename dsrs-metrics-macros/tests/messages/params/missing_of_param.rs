use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] answer: &str, #[param(missing)] least: usize) -> bool {
    answer.len() > least
}

fn main() {}
