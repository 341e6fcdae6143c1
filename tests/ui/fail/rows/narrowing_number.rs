use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    share: f64,
}

#[metric]
fn share(#[pred] share: f32) -> f32 {
    share
}

fn main() {
    let _ = Share.score(&example! {}, &Answer { share: 0.5 });
}
