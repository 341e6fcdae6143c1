use dsrs_metrics::prelude::*;

#[derive(Record)]
struct Gold {
    answer: String,
    year: String,
}

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric]
fn same(#[gold] answers: &[String], #[gold] year: u32, #[pred] answer: &str) -> bool {
    answers.iter().any(|gold| gold == answer) && year > 0
}

fn main() {
    let gold = Gold { answer: String::new(), year: String::new() };
    let _ = Same.score(&gold, &Answer { text: String::new() });
}
