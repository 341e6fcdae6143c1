use dsrs_metrics::prelude::*;

#[metric]
async fn overlap(#[pred] share: f64) -> String {
    share.to_string()
}

fn main() {
    let _ = Overlap.evaluate(&example! {}, &prediction! { "share" => 0.5 });
}
