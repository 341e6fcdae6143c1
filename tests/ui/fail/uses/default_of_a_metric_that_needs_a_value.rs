use dsrs_metrics::prelude::*;

#[metric]
fn known(#[pred] answer: &str, #[param] words: &[String]) -> bool {
    words.iter().any(|word| word == answer)
}

fn main() {
    let _ = Known::default();
}
