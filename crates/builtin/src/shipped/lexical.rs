//! The offline stand-in of the shipped judges: token overlap, counted as in DSPy's `F1`. It does not compare meaning,
//! so it answers only if asked to, and every verdict is labelled `judge: offline-lexical`.
//!
//! Each function receives the inputs in the order of its signature.

use serde_json::{Map, Value, json};

use crate::text::{f1_score, precision_score, recall_score};

/// The lowest fraction of shared tokens that gives a positive verdict.
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
    let references = texts(inputs, references).into_iter().rev();
    let f1 = |reference: &String| f1_score(response, reference);
    let closest = references.max_by(|one, other| f1(one).total_cmp(&f1(other)));
    closest.unwrap_or_default()
}

/// Returns the outputs of a judge, with the share that decided as its reasoning.
fn answer(measure: &str, share: f64, fields: Value) -> Map<String, Value> {
    let mut answer = Map::new();
    let reasoning = format!("{measure}: {share:.2}.");
    answer.insert("reasoning".to_owned(), json!(reasoning));
    if let Value::Object(fields) = fields {
        answer.extend(fields);
    }
    answer
}

/// Returns the token-level recall and precision of the response against the ground truth.
pub fn recall_and_precision(inputs: &[Option<&str>]) -> Map<String, Value> {
    let response = text(inputs, 2);
    let truth = closest(inputs, 1, response);
    let outputs = json!({
        "ground_truth_key_ideas": [],
        "system_response_key_ideas": [],
        "discussion": "",
        "recall": recall_score(response, &truth),
        "precision": precision_score(response, &truth),
    });
    answer("Token F1", f1_score(response, &truth), outputs)
}

/// Returns the largest fraction of a ground truth's tokens found in the response.
fn recall(inputs: &[Option<&str>]) -> f64 {
    let response = text(inputs, 2);
    let shares = texts(inputs, 1)
        .into_iter()
        .map(|truth| recall_score(response, &truth));
    shares.fold(0.0, f64::max)
}

/// Scores the fraction of the ground truth's tokens that appear in the response.
pub fn completeness(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall(inputs);
    let outputs = json!({
        "ground_truth_key_ideas": [],
        "system_response_key_ideas": [],
        "discussion": "",
        "completeness": share,
    });
    answer("Token recall", share, outputs)
}

/// Returns the fraction of the response's tokens found in the context.
pub fn groundedness(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = precision_score(text(inputs, 2), text(inputs, 1));
    let outputs = json!({ "system_response_claims": [], "discussion": "", "groundedness": share });
    answer("Token precision", share, outputs)
}

/// Returns `true` if at least [`ENOUGH`] of the answer's tokens are in the context.
pub fn grounded(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = precision_score(text(inputs, 1), text(inputs, 0));
    let outputs = json!({ "grounded": share >= ENOUGH });
    answer("Token precision", share, outputs)
}

/// Returns `true` if the answer contains any token of the question.
pub fn relevant(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall_score(text(inputs, 1), text(inputs, 0));
    answer("Token recall", share, json!({ "relevant": share > 0.0 }))
}

/// Returns the answer's best F1 against the reference answers.
///
/// If there are no reference answers, the answer is compared with the question.
pub fn grade(inputs: &[Option<&str>]) -> Map<String, Value> {
    let (against, name) = match text(inputs, 1) {
        "" => (0, "question"),
        _ => (1, "reference"),
    };
    let score = best_f1(&[text(inputs, 2).to_owned()], &texts(inputs, against));
    let feedback = format!("Token F1 with the {name}: {score:.2}.");
    let outputs = json!({ "score": score, "feedback": feedback });
    answer("Token F1", score, outputs)
}

/// Rates how much of the ground truth the response contains.
///
/// The rating is the fraction of the ground truth's tokens that are in the response, on a scale from 1 to 5.
pub fn completeness_of_five(inputs: &[Option<&str>]) -> Map<String, Value> {
    let share = recall(inputs);
    // In 1..=5.
    let grade = (1.0 + 4.0 * share).round() as u8;
    answer("Token recall", share, json!({ "score": grade }))
}

/// Chooses the answer whose tokens have the higher F1 with the question's tokens.
pub fn preference(inputs: &[Option<&str>]) -> Map<String, Value> {
    let f1 = |at| f1_score(text(inputs, at), text(inputs, 0));
    let preferred = match f1(1).total_cmp(&f1(2)) {
        std::cmp::Ordering::Greater => "first",
        std::cmp::Ordering::Less => "second",
        std::cmp::Ordering::Equal => "tie",
    };
    let outputs = json!({ "preferred": preferred });
    answer("Token F1", f1(1).max(f1(2)), outputs)
}

/// Returns `true` if an answer is equal or similar to a reference.
///
/// Two strings are similar if their F1 is at least [`ENOUGH`].
pub fn equivalent(inputs: &[Option<&str>]) -> Map<String, Value> {
    let (answers, references) = (texts(inputs, 1), texts(inputs, 0));
    // Equal strings are equivalent even without tokens.
    let is_equal = answers.iter().any(|answer| references.contains(answer));
    let score = match is_equal {
        true => 1.0,
        false => best_f1(&answers, &references),
    };
    answer("Token F1", score, json!({ "equivalent": score >= ENOUGH }))
}
