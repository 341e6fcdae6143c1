use dsrs_metrics::prelude::*;

struct Gold {
    answer: Vec<String>,
}

#[metric(gold = Gold)]
fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
    answer == given
}

fn main() {}
