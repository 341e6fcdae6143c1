use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> Option<Result<bool, String>> {
    Some(Ok(answer == given))
}

fn main() {}
