use dsrs_metrics::prelude::*;

struct Silent;

#[metric]
fn overlap(#[pred] share: f64) -> Result<f64, Silent> {
    Ok(share)
}

fn main() {}
