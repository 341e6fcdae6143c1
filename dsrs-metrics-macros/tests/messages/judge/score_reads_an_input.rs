use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = answer.len() > 3)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
