use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(range = 0.0..=1.0)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
