use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> () {
    let _ = share;
}

fn main() {}
