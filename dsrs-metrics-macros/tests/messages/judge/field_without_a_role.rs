use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    answer: String,
    #[input(pred)]
    context: String,
    #[output]
    polite: bool,
}

fn main() {}
