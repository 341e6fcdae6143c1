use dsrs_metrics::prelude::*;

#[metric(teir = proxy, cost = 100, threshold, strict = 1, name = Overlap, lower_is_better, lower_is_better)]
fn overlap(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "share" => 0.5 });
}
