use dsrs_metrics::prelude::*;

#[derive(Clone, serde::Serialize)]
struct Answer {
    text: String,
}

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred)]
    answer: Answer,
    #[output]
    polite: bool,
}

fn main() {}
