use dsrs_metrics::prelude::*;

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite { yes => 1.0, no => f64::NAN }))]
struct Whole;

fn main() {}
