use dsrs_metrics::prelude::*;

type Verdict = bool;

#[metric(threshold = 0.5, strict)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> Verdict {
    answer == given
}

fn main() {}
