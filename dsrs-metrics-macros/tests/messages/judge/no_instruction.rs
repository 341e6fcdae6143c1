use dsrs_metrics::prelude::*;

#[judge]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

fn main() {}
