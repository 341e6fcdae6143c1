use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
enum Tone {
    Good,
    Bad,
}

/// Say whether the answer is polite.
#[judge(score = tone == Tone::Good)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    tone: Tone,
}

fn main() {}
