use dsrs_metrics::prelude::*;

#[metric(name = overlap)]
fn overlap_of_words(#[pred] share: f64) -> f64 {
    share
}

fn main() {}
