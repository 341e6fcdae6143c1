use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite<T: Clone> {
    #[input(pred)]
    answer: T,
    #[output]
    polite: bool,
}

fn main() {}
