use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(labels = ["1", "2"])]
    score: u8,
}

fn main() {}
