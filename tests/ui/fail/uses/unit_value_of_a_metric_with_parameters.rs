use dsrs_metrics::prelude::*;

#[metric]
fn known(#[pred] answer: &str, #[param(default = vec!["a".to_owned()])] words: Vec<String>) -> bool {
    words.iter().any(|word| word == answer)
}

fn run(_: impl Metric) {}

fn main() {
    let _ = Known.score(&example! {}, &prediction! { "answer" => "a" });
    run(Known);
}
