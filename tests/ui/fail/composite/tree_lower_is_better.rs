use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0, lower_is_better)]
fn error_rate(#[pred] reply: &str) -> f64 {
    f64::from(u8::from(reply.is_empty()))
}

#[metric]
fn polite(#[pred] reply: &str) -> bool {
    reply.contains("please")
}

#[metric(tree(polite { yes => error_rate, no => 0.0 }))]
struct Whole;

fn main() {}
