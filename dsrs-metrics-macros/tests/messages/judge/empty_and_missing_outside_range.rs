use dsrs_metrics::prelude::*;

/// Say how polite the answer is.
#[judge(empty = 0, missing = 6)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(range = 1.0..=5.0)]
    score: f64,
}

fn main() {}
