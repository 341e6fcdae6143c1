use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

fn main() {}
