use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = 1.0)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    tone: Tone,
}

fn main() {}
