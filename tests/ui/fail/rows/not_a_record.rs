use dsrs_metrics::prelude::*;

struct Answer {
    answer: String,
}

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let _ = Length.score(&example! {}, &Answer { answer: String::new() });
}
