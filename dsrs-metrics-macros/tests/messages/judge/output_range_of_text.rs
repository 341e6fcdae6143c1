use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = polite == "yes")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    polite: String,
}

fn main() {}
