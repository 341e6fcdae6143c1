use dsrs_metrics::prelude::*;

fn by_length(answer: &str) -> bool {
    answer.len() < 20
}

/// Say whether the answer is brief.
#[judge(offline = by_length)]
struct Brief {
    #[input(pred)]
    answer: String,
    #[output]
    brief: bool,
}

fn main() {}
