use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
fn length(#[pred] answer: Option<&str>) -> usize {
    answer.map_or(0, str::len)
}

fn main() {
    let _ = Length.score(&example! {}, &Answer { text: String::new() });
}
