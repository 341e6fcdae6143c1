use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(empty = false)]
struct Polite {
    #[input(gold)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
