use dsrs_metrics::prelude::*;

#[derive(Record)]
#[record(tag = "type")]
struct Answer {
    #[record(rename = "answer", rename = "response")]
    text: String,
    #[record(skip)]
    length: usize,
    #[record(rename = "length")]
    chars: usize,
}

#[metric]
fn length(#[pred] answer: &str) -> usize {
    answer.len()
}

fn main() {
    let answer = Answer { text: String::new(), length: 0, chars: 0 };
    let _ = Length.score(&example! {}, &answer);
}
