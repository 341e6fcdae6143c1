use dsrs_metrics::prelude::*;

/// Judge the answer.
#[judge(score = good)]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the answer in short.
    #[step(from(answer))]
    answer: String,
    #[output]
    good: bool,
}

fn main() {}
