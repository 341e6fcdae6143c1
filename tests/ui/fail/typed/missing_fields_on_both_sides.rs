use dsrs_metrics::prelude::*;

struct Gold {
    answers: Vec<String>,
}

struct Answer {
    text: String,
}

#[metric(gold = Gold, pred = Answer)]
fn same(#[gold] answer: &[String], #[pred("txt")] given: &str) -> bool {
    answer.iter().any(|answer| answer == given)
}

fn main() {}
