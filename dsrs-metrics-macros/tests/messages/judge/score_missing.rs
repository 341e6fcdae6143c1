use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    recall: f64,
    #[output(range = 0.0..=1.0)]
    precision: f64,
}

fn main() {}
