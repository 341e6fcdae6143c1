use dsrs_metrics::prelude::*;

struct Words;

#[metric]
impl Words {
    fn overlap(#[pred] share: f64) -> f64 {
        share
    }
}

fn main() {}
