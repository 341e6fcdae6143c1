use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> Result<(), String> {
    let _ = share;
    Ok(())
}

fn main() {}
