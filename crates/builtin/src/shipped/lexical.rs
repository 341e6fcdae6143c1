//! The offline stand-in of the shipped judges: token overlap, counted as in DSPy's `F1`. It does not compare meaning,
//! so it answers only if asked to, and every verdict is labelled `judge: offline-lexical`.
//!
//! Each function receives the inputs in the order of its signature.

use serde_json::{Map, Value, json};

use crate::text::{f1_score, precision_score, recall_score};

/// The smallest fraction of shared tokens that gives a positive verdict.
pub const ENOUGH: f64 = 0.5;

fn text<'a>(inputs: &[Option<&'a str>], at: usize) -> &'a str {
    inputs.get(at).copied().flatten().unwrap_or_default()
}

/// Returns the strings of an input: the items of a list, or the string itself.
fn texts(inputs: &[Option<&str>], at: usize) -> Vec<String> {
    let text = text(inputs, at);
    serde_json::from_str(text).unwrap_or_else(|_| vec![text.to_owned()])
}

/// Returns the largest F1 of any string with any reference.
fn best_f1(texts: &[String], references: &[String]) -> f64 {
    let pairs = texts
        .iter()
        .flat_map(|text| references.iter().map(move |other| (text, other)));
    pairs
        .map(|(text, reference)| f1_score(text, reference))
        .fold(0.0, f64::max)
}

/// Returns the reference with the largest F1 with the response; the first if several have it.
fn closest(inputs: &[Option<&str>], references: usize, response: &str) -> String {
    let mut best: Option<(f64, String)> = None;
    for reference in texts(inputs, references) {
        let score = f1_score(response, &reference);
        if best.as_ref().is_none_or(|(highest, _)| score > *highest) {
            best = Some((score, reference));
        }
    }
    best.map(|(_, reference)| reference).unwrap_or_default()
}

fn answer(words: &str, fields: Value) -> Map<String, Value> {
    let mut answer = Map::new();
    answer.insert("reasoning".to_owned(), json!(words));
    if let Value::Object(fields) = fields {
        answer.extend(fields);
    }
    answer
}

/// Returns the recall and precision of the response's tokens, compared with the ground truth.
pub fn recall_and_precision(inputs: &[Option<&str>]) -> Map<String, Value> {
    let response = text(inputs, 2);
    let truth = closest(inputs, 1, response);
    let (recall, precision) = (
        recall_score(response, &truth),
        precision_score(response, &truth),
    );
    let words = format!(
        "The response contains {:.0}% of the ground truth's tokens; {:.0}% of its own tokens are in the ground truth.",
        100.0 * recall,
        100.0 * precision
    );
    answer(
        &words,
        json!({
            "ground_truth_key_ideas": [],
            "system_response_key_ideas": [],
            "discussion": "",
            "recall": recall,
            "precision": precision,
        }),
    )
}

/// Returns the largest fraction of a ground truth's tokens found in the response.
fn recall(inputs: &[Option<&str>]) -> f64 {
    let response = text(inputs, 2);
    let shares = texts(inputs, 1)
        .into_iter()
        .map(|truth| recall_score(response, &truth));
    shares.fold(0.0, f64::max)
}

/// Returns the fraction of the ground truth's tokens found in the response.
pub fn completeness(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall(inputs);
    let words = format!(
        "The response contains {:.0}% of the ground truth's tokens.",
        100.0 * share
    );
    answer(
        &words,
        json!({
            "ground_truth_key_ideas": [],
            "system_response_key_ideas": [],
            "discussion": "",
            "completeness": share,
        }),
    )
}

/// Returns the fraction of the response's tokens found in the context.
pub fn groundedness(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = precision_score(text(inputs, 2), text(inputs, 1));
    let words = format!(
        "{:.0}% of the response's tokens are in the context.",
        100.0 * share
    );
    answer(
        &words,
        json!({ "system_response_claims": [], "discussion": "", "groundedness": share }),
    )
}

/// Returns `true` if at least [`ENOUGH`] of the answer's tokens are in the context.
pub fn grounded(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = precision_score(text(inputs, 1), text(inputs, 0));
    let words = format!(
        "{:.0}% of the answer's tokens are in the context.",
        100.0 * share
    );
    answer(&words, json!({ "grounded": share >= ENOUGH }))
}

/// Returns `true` if the answer contains any token of the question.
pub fn relevant(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall_score(text(inputs, 1), text(inputs, 0));
    let words = format!(
        "The answer contains {:.0}% of the question's tokens.",
        100.0 * share
    );
    answer(&words, json!({ "relevant": share > 0.0 }))
}

/// Returns the answer's best F1 against the reference answers, or against the question if there are none.
pub fn grade(inputs: &[Option<&str>]) -> Map<String, Value> {
    let (against, name) = match text(inputs, 1) {
        "" => (0, "question"),
        _ => (1, "reference"),
    };
    let score = best_f1(&[text(inputs, 2).to_owned()], &texts(inputs, against));
    let words = format!("Token F1 with the {name}: {score:.2}.");
    answer(&words, json!({ "score": score, "feedback": words }))
}

/// Returns the share of the ground truth's tokens that the response contains, on a scale from 1 to 5.
pub fn completeness_of_five(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall(inputs);
    let words = format!(
        "The response contains {:.0}% of the ground truth's tokens.",
        100.0 * share
    );
    // In 1..=5.
    let grade = (1.0 + 4.0 * share).round() as u8;
    answer(&words, json!({ "score": grade }))
}

/// Returns which answer has the larger F1 with the question.
pub fn preference(inputs: &[Option<&str>]) -> Map<String, Value> {
    let question = text(inputs, 0);
    let (first, second) = (
        f1_score(text(inputs, 1), question),
        f1_score(text(inputs, 2), question),
    );
    let preferred = match first.total_cmp(&second) {
        std::cmp::Ordering::Greater => "first",
        std::cmp::Ordering::Less => "second",
        std::cmp::Ordering::Equal => "tie",
    };
    let words = format!("Token F1 with the question: {first:.2} and {second:.2}.");
    answer(&words, json!({ "preferred": preferred }))
}

/// Returns `true` if an answer equals a reference, or if the best F1 between them is at least [`ENOUGH`].
pub fn equivalent(inputs: &[Option<&str>]) -> Map<String, Value> {
    let (answers, references) = (texts(inputs, 1), texts(inputs, 0));
    // Equal strings are equivalent even without tokens.
    if answers.iter().any(|answer| references.contains(answer)) {
        return answer("The answers are equal.", json!({ "equivalent": true }));
    }
    let score = best_f1(&answers, &references);
    answer(
        &format!("Token F1: {score:.2}."),
        json!({ "equivalent": score >= ENOUGH }),
    )
}
