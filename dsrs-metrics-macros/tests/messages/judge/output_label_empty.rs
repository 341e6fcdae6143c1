use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge(score = class == "good")]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output(labels = ["good", ""])]
    class: String,
}

fn main() {}
