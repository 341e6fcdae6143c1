use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Gold {
    answers: Vec<String>,
}

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
fn same(#[gold] answers: &[String], #[pred] answer: &str) -> bool {
    answers.iter().any(|gold| gold == answer)
}

fn run<G: Sync, P: Sync, M: Metric<G, P>>(_: &M, _: &G, _: &P) {}

fn main() {
    run(&Same, &Gold { answers: Vec::new() }, &Answer { text: String::new() });
}
