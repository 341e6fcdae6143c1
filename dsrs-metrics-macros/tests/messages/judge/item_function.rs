use dsrs_metrics::prelude::*;

/// Say.
#[judge]
fn polite(#[input(pred)] answer: &str) -> bool {
    answer.is_empty()
}

fn main() {}
