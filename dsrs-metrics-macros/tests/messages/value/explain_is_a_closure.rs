use dsrs_metrics::prelude::*;

#[metric(explain = |share, _| share.to_string())]
fn share(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
