use dsrs_metrics::prelude::*;

/// Judge the answer.
#[judge(score = good)]
struct Supported {
    #[input(pred)]
    answer: String,
    /// Write the topic.
    #[step(from(answer))]
    topic: Topic,
    #[output]
    good: bool,
}

fn main() {}
