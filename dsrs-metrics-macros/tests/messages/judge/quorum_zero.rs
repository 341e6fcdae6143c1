use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(panel(quorum = 0))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
