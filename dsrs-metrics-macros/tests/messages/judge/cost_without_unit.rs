use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(cost = "100")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
