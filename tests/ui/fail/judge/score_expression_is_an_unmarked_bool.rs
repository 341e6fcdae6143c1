use dsrs_metrics::prelude::*;

fn is_fine(quality: f64) -> bool {
    quality > 0.5
}

/// Say whether the answer is polite.
#[judge(score = is_fine(quality))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    quality: f64,
}

fn main() {}
