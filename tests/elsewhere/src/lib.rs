//! A crate of another edition that knows the library by another name.
#![deny(warnings)]

use metrics::prelude::*;

/// A predicted row.
#[derive(Debug, Record)]
#[record(crate = ::metrics)]
pub struct Answer {
    /// The text.
    pub answer: String,
    /// What was found.
    pub found: Vec<String>,
}

/// Share of the answers that were found.
#[metric(crate = ::metrics, threshold = 0.5, range = 0.0..=1.0)]
pub fn found_share(
    #[gold] answers: &[String],
    #[pred] found: &[String],
    #[pred] answer: Option<&str>,
    /// How much one is worth.
    #[param(default = 1.0)]
    weight: f64,
    /// What counts.
    #[param]
    words: &[String],
) -> f64 {
    let counts = |found: &&String| answers.contains(*found) || words.contains(*found);
    let most = answers.len().max(1) as f64;
    weight * found.iter().filter(counts).count() as f64 / most
        * f64::from(u8::from(answer.is_some()))
}

/// Whether anything was answered.
#[metric(crate = ::metrics)]
pub async fn is_answered(#[pred] answer: &str) -> Result<bool, String> {
    Ok(!answer.is_empty())
}

/// Both.
#[metric(crate = ::metrics, all(found_share(words = vec!["b".to_owned()]), is_answered))]
pub struct FoundAndAnswered;

#[test]
fn metrics_work_in_another_edition_and_under_another_name() {
    let found = vec!["a".to_owned()];
    let pred = Answer {
        answer: "a".to_owned(),
        found: found.clone(),
    };
    let gold = example! { "answers" => ["a", "b"] };
    let metric = FoundShare::builder().words(found).build();
    assert_eq!(metric.score(&gold, &pred).unwrap().value, 0.5);
    let _: [&dyn AcceptanceTest<Example, Answer>; 2] = [&IsAnswered, &FoundAndAnswered];
}

#[cfg(test)]
fn rows() -> Vec<Example> {
    let row = |answer: &str| example! { "question" => format!("{answer}?"), "answers" => [answer] };
    ["a", "b", "c", "d"].map(row).to_vec()
}

/// Finds each answer but the last one.
#[cfg(test)]
#[eval(
    crate = ::metrics,
    devset = rows(),
    metrics(FoundShare::builder().words([""]).build(), IsAnswered),
    gate(found_share >= 0.75, lower(is_answered) >= 0.5, is_answered >= 1.0, failed <= 0.0),
)]
fn found(question: &str) -> Prediction {
    let answer = question.trim_end_matches('?');
    let found = if answer == "d" { vec![] } else { vec![answer] };
    prediction! { "answer" => answer, "found" => found }
}
