use dsrs_metrics::prelude::*;

#[metric(treshold = 0.5)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "share" => 0.5 });
}
