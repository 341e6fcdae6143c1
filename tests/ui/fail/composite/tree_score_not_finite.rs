use dsrs_metrics::prelude::*;

const WORST: f64 = -1.0 / 0.0;

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite { yes => 1.0, no => (WORST) }))]
struct Whole;

fn main() {}
