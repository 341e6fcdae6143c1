use dsrs_metrics::prelude::*;

/// Say.
#[judge]
struct Polite(#[input(pred)] String, #[output] bool);

fn main() {}
