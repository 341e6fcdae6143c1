use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> String {
    share.to_string()
}

fn main() {
    let _ = Overlap.score(&example! {}, &prediction! { "share" => 0.5 });
}
