use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Polite {
    #[param]
    criteria: Vec<String>,
    #[output]
    polite: bool,
}

fn main() {}
