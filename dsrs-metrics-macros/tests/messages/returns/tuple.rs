use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> (f64, String) {
    (share, String::new())
}

fn main() {}
