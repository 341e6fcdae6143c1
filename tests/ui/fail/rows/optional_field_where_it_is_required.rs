use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    answer: Option<String>,
}

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let _ = Length.score(&example! {}, &Answer { answer: None });
}
