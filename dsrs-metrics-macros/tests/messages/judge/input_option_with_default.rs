use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[input(pred, default)]
    answer: Option<String>,
    #[output]
    polite: bool,
}

fn main() {}
