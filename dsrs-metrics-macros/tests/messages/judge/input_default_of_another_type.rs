use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred, default = 5)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
