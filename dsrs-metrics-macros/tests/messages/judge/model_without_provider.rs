use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(panel(models = ["gpt-6-luna"]))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
