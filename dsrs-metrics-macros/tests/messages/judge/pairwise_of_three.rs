use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(pairwise(first, second, third))]
struct Polite {
    #[input(pred)]
    first: String,
    #[input(gold)]
    second: String,
    #[output]
    score: f64,
}

fn main() {}
