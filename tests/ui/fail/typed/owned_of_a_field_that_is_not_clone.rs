use dsrs_metrics::prelude::*;

struct Answer(String);

struct Gold {
    answer: Answer,
}

#[metric(gold = Gold)]
fn same(#[gold] answer: Answer, #[pred("answer")] given: &str) -> bool {
    answer.0 == given
}

fn main() {}
