use dsrs_metrics::prelude::*;

struct Gold {
    answer: String,
}

#[metric(gold = Gold)]
fn same(#[gold] answer: Option<&str>, #[pred("answer")] given: &str) -> bool {
    answer == Some(given)
}

fn main() {}
