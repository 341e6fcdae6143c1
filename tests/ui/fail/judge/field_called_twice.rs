use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = polite)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
    #[output]
    polite: bool,
}

fn main() {}
