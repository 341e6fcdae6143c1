use dsrs_metrics::prelude::*;

/// Sort the answer.
#[judge]
struct Sorted {
    #[input(pred)]
    answer: String,
    #[output(labels = ["good", "bad"])]
    class: String,
}

fn main() {}
