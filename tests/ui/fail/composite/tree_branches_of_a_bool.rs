use dsrs_metrics::prelude::*;

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite { Friendly => 1.0, Rude => 0.0 }))]
struct Whole;

fn main() {}
