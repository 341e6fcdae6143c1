use dsrs_metrics::prelude::*;

trait Words {
    #[metric]
    fn overlap(#[pred] share: f64) -> f64;
}

fn main() {}
