use dsrs_metrics::prelude::*;

#[metric(threshold = 100)]
fn words(#[pred] answer: &str) -> f64 {
    answer.split_whitespace().count() as f64
}

#[metric(tier = truth)]
fn tokens(#[pred] answer: &str) -> usize {
    answer.len()
}

#[metric]
fn valid(#[pred] ok: bool) -> bool {
    ok
}

#[metric(weighted(valid = 0.5, words = 0.5))]
struct Mean;

#[metric(all(words >= 100, valid))]
struct Both;

#[metric(any(words, valid))]
struct Either;

#[metric(min(valid, words))]
struct Smallest;

#[metric(max(valid, weighted(words = 1)))]
struct Largest;

#[metric(gate(proxy(words) >= 100, truth(tokens)))]
struct Gated;

fn main() {}
