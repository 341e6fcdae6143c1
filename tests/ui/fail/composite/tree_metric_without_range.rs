use dsrs_metrics::prelude::*;

#[metric]
fn words(#[pred] reply: &str) -> f64 {
    reply.split(char::is_whitespace).count() as f64
}

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite { yes => words, no => 0.0 }))]
struct Whole;

fn main() {}
