use dsrs_metrics::prelude::*;

#[metric(missing = 0.5)]
fn same(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer == guess
}

fn main() {}
