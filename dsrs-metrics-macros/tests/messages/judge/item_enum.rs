use dsrs_metrics::prelude::*;

/// Say.
#[judge]
enum Polite {
    Yes,
    No,
}

fn main() {}
