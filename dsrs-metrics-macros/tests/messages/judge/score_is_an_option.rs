use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    score: Option<f64>,
}

fn main() {}
