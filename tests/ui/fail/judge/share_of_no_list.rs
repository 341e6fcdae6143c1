use dsrs_metrics::prelude::*;

/// Judge the answer.
#[judge(score = share(supported, |it| it), range = 0.0..=1.0)]
struct Supported {
    #[input(pred)]
    answer: String,
    #[output]
    supported: bool,
}

fn main() {}
