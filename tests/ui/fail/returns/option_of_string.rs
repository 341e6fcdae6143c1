use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> Option<String> {
    Some(share.to_string())
}

fn main() {}
