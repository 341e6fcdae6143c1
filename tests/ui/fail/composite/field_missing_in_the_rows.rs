use dsrs_metrics::prelude::*;

#[metric(range = 0.0..=1.0)]
fn overlap(#[gold] answer: f64, #[pred("answer")] guess: f64) -> f64 {
    1.0 - (answer - guess).abs().min(1.0)
}

#[derive(Record)]
struct Question {
    answer: f64,
}

#[derive(Record)]
struct Answer {
    text: String,
}

#[metric(range = 0.0..=1.0)]
fn answered(gold: &Question, pred: &Answer) -> f64 {
    let _ = (gold.answer, &pred.text);
    1.0
}

#[metric(min(answered, overlap))]
struct Least;

fn main() {}
