use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = harmonic_mean(quality, polite))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    quality: f64,
    #[output]
    polite: bool,
}

fn main() {}
