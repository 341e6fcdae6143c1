use dsrs_metrics::prelude::*;

type Verdict = bool;

#[metric(range = 0.0..=5.0)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> Verdict {
    answer == given
}

fn main() {}
