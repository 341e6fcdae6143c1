use dsrs_metrics::metrics::Length;
use dsrs_metrics::prelude::*;

struct Answer {
    answer: String,
}

fn main() {
    let answer = Answer { answer: "Paris".to_owned() };
    let _ = Length::builder().max_chars(9).build().score(&example! {}, &answer);
}
