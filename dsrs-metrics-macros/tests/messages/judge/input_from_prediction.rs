use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(prediction)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
