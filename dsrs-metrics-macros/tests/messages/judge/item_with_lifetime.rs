use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite<'a> {
    #[input(pred)]
    answer: &'a str,
    #[output]
    polite: bool,
}

fn main() {}
