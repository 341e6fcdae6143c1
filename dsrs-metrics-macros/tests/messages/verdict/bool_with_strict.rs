use dsrs_metrics::prelude::*;

#[metric(strict)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

fn main() {}
