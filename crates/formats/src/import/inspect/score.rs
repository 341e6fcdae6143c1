//! Converts scores as inspect_ai's `value_to_float` does, and messages to OpenAI's form, including the attachments they
//! refer to.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::contract::{MetricError, Outcome};
use crate::import::scores::{invalid, scored};
use crate::text::digit_value;

/// A score of a sample.
#[derive(Deserialize)]
pub(super) struct Score {
    #[serde(default)]
    value: Value,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    explanation: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

impl Score {
    /// Returns the outcome of the score, or of each element of a list or an object, by its name.
    pub(super) fn outcomes(self, scorer: &str) -> Vec<(Option<String>, Outcome)> {
        let Self {
            value,
            answer,
            explanation,
            reason,
            metadata,
        } = self;
        let mut notes = Map::new();
        let texts = [("answer", answer), ("reason", reason)];
        notes.extend(
            texts
                .into_iter()
                .filter_map(|(key, it)| Some((key.to_owned(), it?.into()))),
        );
        if let Some(metadata) = metadata.filter(|it| !it.is_empty()) {
            notes.insert("metadata".to_owned(), metadata.into());
        }
        let outcome = |value: &Value| outcome(scorer, value, explanation.as_ref(), &notes);
        match value {
            Value::Array(values) => {
                let named = values.iter().enumerate();
                named
                    .map(|(number, value)| (Some(number.to_string()), outcome(value)))
                    .collect()
            }
            Value::Object(values) => {
                let mut all: Vec<_> = values
                    .iter()
                    .map(|(name, value)| (Some(name.clone()), outcome(value)))
                    .collect();
                // The features of `serde_json` determine their order.
                all.sort_by(|(a, _), (b, _)| a.cmp(b));
                all
            }
            value => vec![(None, outcome(&value))],
        }
    }
}

/// Returns the outcome of a single value. `NaN`, which was read as null, means that the metric abstained.
fn outcome(
    scorer: &str,
    value: &Value,
    explanation: Option<&String>,
    notes: &Map<String, Value>,
) -> Outcome {
    let scored = |number: f64, passed| scored(number, passed, explanation.cloned(), notes.clone());
    let verdict = |passed: bool| scored(f64::from(u8::from(passed)), Some(passed));
    match value {
        Value::Null => match failure(notes) {
            Some(reason) => Outcome::from(MetricError::failed(
                scorer,
                explanation.map_or(reason, |it| it),
            )),
            None => Outcome::Abstained,
        },
        Value::Bool(passed) => verdict(*passed),
        Value::Number(number) => match number.as_f64() {
            Some(number) => scored(number, None),
            None => invalid(scorer, value),
        },
        Value::String(text) => match (&**text, &*text.to_lowercase()) {
            ("C", _) | (_, "yes" | "true") => verdict(true),
            ("I" | "N", _) | (_, "no" | "false") => verdict(false),
            ("P", _) => scored(0.5, None),
            // inspect_ai warns and scores 0 if it cannot convert a value. Here, the metric fails and counts as 0.
            _ => match finite_number(text) {
                Some(number) => scored(number, None),
                None => invalid(scorer, value),
            },
        },
        _ => invalid(scorer, value),
    }
}

/// Returns the outcome of a failed metric, which our export adds because inspect_ai knows only "not scored".
fn failure(notes: &Map<String, Value>) -> Option<&str> {
    let outcome = notes
        .get("metadata")?
        .get("dsrs_metrics_outcome")?
        .as_str()?;
    (outcome == "metric_failed").then_some(outcome)
}

/// Parses a number like Python's `float`, which allows underscores between digits.
fn finite_number(text: &str) -> Option<f64> {
    let digit = |found| digit_value(found).map_or(found, |digit| char::from(b'0' + digit));
    let text: String = text.trim().chars().map(digit).collect();
    let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    let between_digits =
        |at: usize| is_digit(bytes.get(at.wrapping_sub(1))) && is_digit(bytes.get(at + 1));
    let is_valid = text.match_indices('_').all(|(at, _)| between_digits(at));
    let number: f64 = text.replace('_', "").parse().ok()?;
    Some(number).filter(|number| is_valid && number.is_finite())
}

/// The prefixes of references to attachments.
const PROTOCOLS: [&str; 2] = ["attachment://", "tc://"];

/// The maximum size of a sample's resolved references, in bytes. A short sample may refer to a long attachment many times.
const MAX_RESOLVED: usize = 64 << 20;

/// The long strings of a sample, by hash.
pub(super) struct Attachments {
    by_hash: HashMap<String, String>,
    resolved: usize,
}

impl Attachments {
    pub(super) fn new(by_hash: HashMap<String, String>) -> Self {
        Self {
            by_hash,
            resolved: 0,
        }
    }

    /// Replaces references with what they refer to. References to images or to nothing stay.
    pub(super) fn resolve(&mut self, value: &mut Value) -> Result<(), String> {
        match value {
            Value::String(text) => {
                let hash = PROTOCOLS
                    .iter()
                    .find_map(|protocol| text.strip_prefix(protocol));
                let content = hash.and_then(|hash| self.by_hash.get(hash));
                let Some(content) = content.filter(|content| !content.starts_with("data:")) else {
                    return Ok(());
                };
                self.resolved += content.len();
                if self.resolved > MAX_RESOLVED {
                    return Err(format!(
                        "its resolved attachments have more than {MAX_RESOLVED} bytes"
                    ));
                }
                text.clone_from(content);
                Ok(())
            }
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.resolve(value)),
            Value::Object(fields) => fields
                .values_mut()
                .try_for_each(|value| self.resolve(value)),
            _ => Ok(()),
        }
    }
}

/// Returns the text of a message's content: a string, or a list of parts. Only parts of the type `text` are read.
pub(super) fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text");
            let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
            Some(texts.join("\n"))
        }
        _ => None,
    }
}

/// Returns messages in OpenAI's form.
pub(super) fn trajectory(messages: Vec<Value>) -> Value {
    // The calls that still lack a result.
    let mut open = HashSet::new();
    messages
        .into_iter()
        .map(|message| openai_message(message, &mut open))
        .collect()
}

fn openai_message(message: Value, open: &mut HashSet<String>) -> Value {
    let Value::Object(mut fields) = message else {
        return message;
    };
    let mut written = Map::new();
    let role = fields.remove("role").unwrap_or_else(|| "user".into());
    let content = fields.remove("content").unwrap_or_default();
    let text = text_of(&content).unwrap_or_default();
    if role == "assistant" {
        // The content includes tools that the provider ran, with their results.
        let parts = content.as_array().into_iter().flatten();
        let mut calls: Vec<Value> = parts
            .filter(|part| part["type"] == "tool_use")
            .map(provider_call)
            .collect();
        if let Some(Value::Array(of_agent)) = fields.remove("tool_calls") {
            calls.extend(of_agent.into_iter().map(|call| openai_call(call, open)));
        }
        if !calls.is_empty() {
            written.insert("tool_calls".to_owned(), calls.into());
        }
    }
    if role == "tool" {
        // A result gets no id if its call was removed from the messages.
        if let Some(Value::String(id)) = fields.remove("tool_call_id")
            && open.remove(&id)
        {
            written.insert("tool_call_id".to_owned(), id.into());
        }
        if fields.get("error").is_some_and(|error| !error.is_null()) {
            written.insert("is_error".to_owned(), true.into());
        }
    }
    written.insert("role".to_owned(), role);
    written.insert("content".to_owned(), text.into());
    Value::Object(written)
}

fn provider_call(part: &Value) -> Value {
    let keys = [
        ("name", "name"),
        ("args", "arguments"),
        ("result", "result"),
        ("error", "error"),
    ];
    keys.into_iter()
        .map(|(key, of_part)| (key.to_owned(), part[of_part].clone()))
        .collect()
}

/// `{"id", "function": NAME, "arguments": {..}}` as `{"id", "name", "args"}`
fn openai_call(call: Value, open: &mut HashSet<String>) -> Value {
    let Value::Object(mut call) = call else {
        return call;
    };
    let mut written = Map::new();
    if let Some(Value::String(id)) = call.remove("id") {
        open.insert(id.clone());
        written.insert("id".to_owned(), id.into());
    }
    written.insert(
        "name".to_owned(),
        call.remove("function").unwrap_or_else(|| "unknown".into()),
    );
    // If the arguments are not JSON, the reason takes their place.
    let error = call.remove("parse_error").filter(Value::is_string);
    let args = error
        .or_else(|| call.remove("arguments"))
        .filter(|args| !args.is_null());
    written.insert("args".to_owned(), args.unwrap_or_else(|| Map::new().into()));
    Value::Object(written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Element, outcome, value and verdict.
    type Shown = (Option<String>, String, Option<f64>, Option<bool>);

    fn of(value: &Value) -> Vec<Shown> {
        let score: Score = serde_json::from_value(json!({ "value": value })).unwrap();
        let shown = |(name, outcome): (Option<String>, Outcome)| {
            let passed = outcome.scored().and_then(|scored| scored.passed);
            (name, outcome.name().to_owned(), outcome.value(), passed)
        };
        score.outcomes("s").into_iter().map(shown).collect()
    }

    #[test]
    fn values_are_what_value_to_float_returns() {
        for (value, expected, passed) in [
            (json!("C"), 1.0, Some(true)),
            (json!("I"), 0.0, Some(false)),
            (json!("P"), 0.5, None),
            (json!("N"), 0.0, Some(false)),
            (json!("Yes"), 1.0, Some(true)),
            (json!("TRUE"), 1.0, Some(true)),
            (json!("no"), 0.0, Some(false)),
            (json!("False"), 0.0, Some(false)),
            (json!(true), 1.0, Some(true)),
            (json!(7), 7.0, None),
            (json!("0.25"), 0.25, None),
            (json!(" -1e2 "), -100.0, None),
            (json!("1_000"), 1000.0, None),
            (json!("\u{661}.\u{665}"), 1.5, None),
        ] {
            assert_eq!(
                of(&value),
                [(None, "scored".to_owned(), Some(expected), passed)],
                "{value}"
            );
        }
        for value in [
            "c",
            "",
            "Infinity",
            "-Infinity",
            "nan",
            "inf",
            "1,5",
            "1_",
            "maybe",
        ] {
            assert_eq!(of(&json!(value))[0].1, "metric_failed", "{value}");
        }
        assert_eq!(of(&Value::Null)[0].1, "abstained");
    }

    #[test]
    fn an_element_of_a_list_or_an_object_is_a_score_of_its_own() {
        let named = |name: &str, value, passed| {
            (
                Some(name.to_owned()),
                "scored".to_owned(),
                Some(value),
                passed,
            )
        };
        let both = of(&json!({"b": "C", "a": 0.5}));
        assert_eq!(both, [named("a", 0.5, None), named("b", 1.0, Some(true))]);
        let list = of(&json!([1, null]));
        assert_eq!(list[0], named("0", 1.0, None));
        assert_eq!(
            (list[1].0.as_deref(), &*list[1].1),
            (Some("1"), "abstained")
        );
    }
}
