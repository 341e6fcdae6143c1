use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _ = Overlap.score(&prediction! { "share" => 0.5 });
}
