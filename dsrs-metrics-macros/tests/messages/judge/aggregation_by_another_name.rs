use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(panel(aggregation = mean))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(range = 1..=5)]
    score: u8,
}

fn main() {}
