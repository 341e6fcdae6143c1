use dsrs_metrics::prelude::*;

/// Say whether the answer is brief.
#[judge(offline = by_lenght)]
struct Brief {
    #[input(pred)]
    answer: String,
    #[output]
    brief: bool,
}

fn main() {}
