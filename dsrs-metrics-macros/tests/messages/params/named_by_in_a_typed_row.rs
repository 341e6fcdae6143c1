use dsrs_metrics::prelude::*;

struct Answer {
    answer: String,
}

#[metric(pred = Answer)]
fn is_short(#[pred(named_by = field)] text: &str, #[param(default = "answer")] field: &str) -> bool {
    text.len() < 10
}

fn main() {}
