use dsrs_metrics::prelude::*;

struct Words;

impl Words {
    #[metric]
    fn overlap(#[pred] share: f64) -> f64 {
        share
    }
}

fn main() {}
