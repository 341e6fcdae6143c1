//! A program of a user's: their own metrics beside the built-in ones.
#![forbid(unsafe_code)]

use std::time::Duration;

use dsrs_metrics::prelude::*;

/// Whether the answers are the same text.
///
/// No character is folded: "Paris" is not "paris".
#[metric]
fn same_text(#[gold] answer: &str, #[pred("answer")] guess: &str) -> bool {
    answer == guess
}

/// How far the guess is from the answer, in units of `scale`; a metric with a first line of
/// documentation that is longer than most terminals are wide, so that it has to be wrapped somewhere.
#[metric(lower_is_better, range = 0.0..=1000.0)]
fn distance(
    #[gold] answer: f64,
    #[pred("answer")] guess: f64,
    /// what counts as 1
    #[param(default = 1.0)]
    scale: f64,
) -> f64 {
    (answer - guess).abs() / scale
}

/// Whether the answer is one of several.
#[metric]
fn any_of(#[gold] answers: &[String], #[pred] answer: &str) -> bool {
    answers.iter().any(|one| one == answer)
}

/// Whether the note is short; without a note it has no opinion.
#[metric]
fn short_note(#[pred] note: Option<&str>, #[param] limit: usize) -> Option<bool> {
    note.map(|note| note.chars().count() <= limit)
}

/// Does what the prediction says.
#[metric]
fn obeys(#[pred] answer: &str) -> Result<f64, String> {
    match answer {
        "panic" => panic!("told to\npanic"),
        "fail" => Err("told to fail".to_owned()),
        "nan" => Ok(f64::NAN),
        text => text.parse().map_err(|_| format!("{text:?} is no order")),
    }
}

/// Takes as many seconds as the prediction says.
#[metric]
async fn sleeps(#[pred] seconds: f64) -> bool {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    true
}

dsrs_metrics::main![SameText, Distance, AnyOf, ShortNote, Obeys, Sleeps];
