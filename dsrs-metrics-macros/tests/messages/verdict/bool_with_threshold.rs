use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

fn main() {}
