use dsrs_metrics::prelude::*;

#[metric]
fn known(#[pred] answer: &str, #[param] words: &[String], #[param(default = 1)] least: usize) -> bool {
    words.iter().filter(|word| *word == answer).count() >= least
}

fn main() {
    let _ = Known::builder().least(2usize).build();
}
