use dsrs_metrics::prelude::*;

#[metric(explain = explain_share)]
fn share(#[pred] share: f64) -> f64 {
    share
}

fn main() {
    let _ = Share.score(&example! {}, &prediction! { "share" => 0.5 });
}
