use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    #[input(gold)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
