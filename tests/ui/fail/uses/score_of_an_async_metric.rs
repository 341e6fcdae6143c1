use dsrs_metrics::prelude::*;

#[metric]
async fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "share" => 0.5 });
}
