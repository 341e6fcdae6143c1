use dsrs_metrics::prelude::*;

/// Grade the answer.
#[judge(score = grade - errors)]
struct Grade {
    #[input(pred)]
    answer: String,
    #[output(range = 1..=5)]
    grade: u8,
    #[output]
    errors: u32,
}

fn main() {}
