use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(scoring(temperature = "low"))]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
