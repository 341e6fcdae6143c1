use dsrs_metrics::prelude::*;

#[metric]
trait Overlap {
    fn overlap(share: f64) -> f64;
}

fn main() {}
