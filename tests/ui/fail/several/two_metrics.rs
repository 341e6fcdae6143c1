use dsrs_metrics::prelude::*;

#[metric(tier = cheap)]
fn first(#[pred] share: f64) -> f64 {
    share
}

#[metric]
fn second(share: f64) -> f64 {
    share
}

fn main() {
    let (gold, pred) = (example! {}, prediction! { "share" => 0.5 });
    let _ = First.score(&gold, &pred);
    let _ = Second.score(&gold, &pred);
}
