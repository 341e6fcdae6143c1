use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = geometric_mean(quality, 1.0))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    quality: f64,
}

fn main() {}
