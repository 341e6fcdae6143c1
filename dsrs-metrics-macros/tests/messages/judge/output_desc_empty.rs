use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(desc = " ")]
    polite: bool,
}

fn main() {}
