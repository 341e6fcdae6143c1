use dsrs_metrics::prelude::*;

#[metric]
fn same(#[gold] answer: &[String], #[pred] answer: &str) -> bool {
    answer.iter().any(|expected| expected == answer)
}

fn main() {
    let _ = Same.score(&example! {}, &prediction! {});
}
