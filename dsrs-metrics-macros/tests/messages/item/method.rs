use dsrs_metrics::prelude::*;

struct Words;

impl Words {
    #[metric]
    fn overlap(&self, #[pred] share: f64) -> f64 {
        share
    }
}

fn main() {}
