use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred, range = 0.0..=1.0)]
    answer: f64,
    #[output]
    polite: bool,
}

fn main() {}
