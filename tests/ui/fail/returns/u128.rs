use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: u64) -> u128 {
    share.into()
}

fn main() {}
