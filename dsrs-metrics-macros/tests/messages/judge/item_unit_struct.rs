use dsrs_metrics::prelude::*;

/// Say.
#[judge]
struct Polite;

fn main() {}
