use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(panel(models = [default; 3], quorum = 4))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
