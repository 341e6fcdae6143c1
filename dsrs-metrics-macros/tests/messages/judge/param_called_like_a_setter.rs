use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[param(default = 3)]
    quorum: u8,
    #[output]
    polite: bool,
}

fn main() {}
