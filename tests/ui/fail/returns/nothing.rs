use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) {
    let _ = share;
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "share" => 0.5 });
}
