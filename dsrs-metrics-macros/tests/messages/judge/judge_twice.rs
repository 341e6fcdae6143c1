use dsrs_metrics::prelude::*;

/// Say.
#[judge]
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
