use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5, range = 0.0..=1.0, strict, lower_is_better)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

fn main() {}
