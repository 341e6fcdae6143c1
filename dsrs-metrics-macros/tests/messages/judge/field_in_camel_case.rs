use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    systemResponse: String,
    #[output]
    polite: bool,
}

fn main() {}
