use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Gold {
    answers: Vec<u32>,
}

#[metric]
fn count(#[gold] answers: &[String]) -> usize {
    answers.len()
}

fn main() {
    let _ = Count.score(&Gold { answers: Vec::new() }, &prediction! {});
}
