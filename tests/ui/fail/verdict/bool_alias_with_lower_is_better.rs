use dsrs_metrics::prelude::*;

type Verdict = bool;

#[metric(lower_is_better)]
fn differs(#[gold] answer: &str, #[pred("answer")] given: &str) -> Verdict {
    answer != given
}

fn main() {}
