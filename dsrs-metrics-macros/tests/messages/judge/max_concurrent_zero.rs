use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(max_concurrent_judges = 0)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
