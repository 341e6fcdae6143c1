use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(panel(aggregation = median))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
