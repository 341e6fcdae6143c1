use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[param(range = 0..=1)]
    weight: f64,
    #[output]
    polite: bool,
}

fn main() {}
