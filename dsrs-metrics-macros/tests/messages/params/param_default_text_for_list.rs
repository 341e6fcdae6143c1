use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] given: &str, #[param(default = "a, b")] words: &[String]) -> bool {
    words.iter().any(|word| word == given)
}

fn main() {}
