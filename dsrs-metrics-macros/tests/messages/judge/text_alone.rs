use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge("Say whether it is polite.")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
