use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = { let _ = tone; 1.0 })]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    tone: Tone,
}

fn main() {}
