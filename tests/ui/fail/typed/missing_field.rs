use dsrs_metrics::prelude::*;

struct Gold {
    answers: Vec<String>,
}

#[metric(gold = Gold)]
fn same(#[gold] answer: &[String], #[pred] given: &str) -> bool {
    answer.iter().any(|answer| answer == given)
}

fn main() {}
