use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = politeness)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
