use std::sync::Arc;

use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let answer = Arc::new(Answer { text: "Paris".to_owned() });
    let _ = Length.score(&example! {}, &answer);
}
