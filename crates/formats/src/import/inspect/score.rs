//! Scores: what inspect_ai's `value_to_float` makes of their values.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::core::{MetricError, Outcome};
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

/// Returns the outcome of a value that is neither a list nor an object. `NaN`, which was read as null, is an abstention.
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
            // inspect_ai scores what it cannot convert as 0, with a warning. Here the metric failed, which counts as 0.
            _ => match finite_number(text) {
                Some(number) => scored(number, None),
                None => invalid(scorer, value),
            },
        },
        _ => invalid(scorer, value),
    }
}

/// Returns the outcome of a failed metric, which the export of a result file notes where inspect_ai has only "not scored".
fn failure(notes: &Map<String, Value>) -> Option<&str> {
    let outcome = notes
        .get("metadata")?
        .get("dsrs_metrics_outcome")?
        .as_str()?;
    (outcome == "metric_failed").then_some(outcome)
}

/// Returns the number in a string, as Python's `float` reads it: with underscores between digits.
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
