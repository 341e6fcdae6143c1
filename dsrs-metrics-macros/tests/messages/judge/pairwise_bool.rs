use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(pairwise(first, second))]
struct Polite {
    #[input(pred)]
    first: String,
    #[input(gold)]
    second: String,
    #[output]
    polite: bool,
}

fn main() {}
