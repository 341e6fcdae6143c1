use dsrs_metrics::prelude::*;

#[metric]
struct Overlap {
    #[pred]
    share: f64,
}

fn main() {}
