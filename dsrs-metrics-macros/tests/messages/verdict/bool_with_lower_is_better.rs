use dsrs_metrics::prelude::*;

#[metric(lower_is_better)]
fn differs(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer != given
}

fn main() {}
