use dsrs_metrics::prelude::*;

#[metric]
fn some(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _: Option<u8> = Some(1);
}
