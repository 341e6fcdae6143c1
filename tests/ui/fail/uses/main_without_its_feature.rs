use dsrs_metrics::prelude::*;

#[metric]
fn short(#[pred] answer: &str) -> bool {
    answer.len() < 100
}

dsrs_metrics::main![short];
