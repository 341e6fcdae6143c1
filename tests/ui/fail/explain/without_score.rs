use dsrs_metrics::prelude::*;

#[metric(explain = explain_overlap)]
fn overlap(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer == guess
}

fn explain_overlap(answer: &str, guess: &str) -> String {
    format!("{answer} and {guess}")
}

fn main() {}
