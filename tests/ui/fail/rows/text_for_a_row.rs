use dsrs_metrics::prelude::*;

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let _ = Length.score(&example! {}, &"Paris".to_owned());
}
