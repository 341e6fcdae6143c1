use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
async fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let _ = Length.evaluate(&example! {}, &Answer { text: String::new() });
}
