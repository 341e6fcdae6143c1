use dsrs_metrics::prelude::*;

struct Share(f64);

#[metric]
fn overlap(#[pred] share: f64) -> Share {
    Share(share)
}

fn main() {}
