//! Reads one epoch of a sample, and converts its scores like inspect_ai's `value_to_float`.

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::messages::{resolve, text_of, trajectory};
use crate::import::table::{Epochs, TableRow, put};
use crate::import::text::{Unique, parse};
use crate::json::found;

/// The sample fields that are read. Events, which make up most of a log, are not among them.
pub(super) const FIELDS: &str = "id epoch input choices target messages output scores score metadata attachments model_usage total_time working_time invalidation error limit";

/// One epoch of a sample.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Sample {
    #[serde(deserialize_with = "id_of")]
    pub(super) id: String,
    pub(super) epoch: u32,
    input: Value,
    choices: Value,
    target: Value,
    messages: Vec<Value>,
    output: Value,
    scores: Option<Unique<Score>>,
    /// The only score in logs before version 2.
    score: Option<Score>,
    metadata: Value,
    attachments: HashMap<String, String>,
    model_usage: Value,
    total_time: Option<f64>,
    working_time: Option<f64>,
    invalidation: Value,
    error: Value,
    limit: Value,
}

/// One scorer's score for a sample.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Score {
    value: Value,
    answer: Option<String>,
    explanation: Option<String>,
    reason: Option<String>,
    metadata: Option<Map<String, Value>>,
}

impl Sample {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut sample: Self = parse(text.as_bytes())?;
        if let Some(score) = sample.score.take() {
            let scores = sample.scores.get_or_insert_with(|| Unique(IndexMap::new()));
            scores.0.entry("score".to_owned()).or_insert(score);
        }
        let attachments = std::mem::take(&mut sample.attachments);
        let prompt = [&mut sample.input, &mut sample.choices, &mut sample.target];
        let reply = [&mut sample.output, &mut sample.metadata];
        let values = prompt.into_iter().chain(reply);
        let mut resolved = 0;
        for value in values.chain(&mut sample.messages) {
            resolve(value, &attachments, &mut resolved)?;
        }
        Ok(sample)
    }

    pub(super) fn is_failed(&self) -> bool {
        !self.error.is_null()
    }

    pub(super) fn is_invalidated(&self) -> bool {
        !self.invalidation.is_null()
    }

    /// Returns the sample's row. The gold row contains the input and the target, and the prediction contains the
    /// completion and the messages. The target is also the field `answer`, which metrics read. If the sample has
    /// several epochs, the epoch number is in the id or in the attributes.
    pub(super) fn row(
        self,
        (epoch, is_numbered): (u32, bool),
        epochs: Epochs,
        model: &str,
    ) -> TableRow {
        let id = &*self.id;
        let mut row = TableRow::new(id);
        if is_numbered && epochs == Epochs::Rows {
            row = TableRow::new(format!("{id}:{epoch}"));
            row.attributes.insert("epoch", epoch);
            row.attributes.insert("sample", id);
        }
        if let Some(kind) = self.limit["type"].as_str() {
            let limit = match is_numbered && epochs == Epochs::Repeats {
                true => format!("{kind} (epoch {epoch})"),
                false => kind.to_owned(),
            };
            row.attributes.insert("limit", limit);
        }
        if self.is_invalidated() {
            row.attributes.insert("invalidated_epochs", epoch);
        }
        if self.is_failed() {
            let message = self.error["message"].as_str().unwrap_or_default();
            row.error = Some(message.to_owned());
        } else {
            let completion = match self.output["completion"].as_str() {
                Some(completion) => Some(completion.to_owned()),
                // Logs from earlier versions have only the message.
                None => text_of(&self.output["choices"][0]["message"]["content"]),
            };
            put(&mut row.pred, "answer", completion);
            put(&mut row.pred, "trajectory", trajectory(self.messages));
            for (scorer, score) in self.scores.into_iter().flat_map(|scores| scores.0) {
                score.add_to(&mut row, &scorer);
            }
        }
        if self.metadata.as_object().is_some_and(|it| !it.is_empty()) {
            row.attributes.insert("metadata", self.metadata);
        }
        let input = match self.input {
            Value::Array(messages) => trajectory(messages),
            input => input,
        };
        put(&mut row.gold, "input", input);
        put(&mut row.gold, "answer", self.target.clone());
        put(&mut row.gold, "target", self.target);
        put(&mut row.gold, "choices", self.choices);
        row.latency_s = self.working_time.or(self.total_time);
        let usage = &self.model_usage[model];
        row.tokens = usage.is_object().then(|| {
            let tokens = |keys: &[&str]| {
                let counts = keys.iter().filter_map(|key| usage[*key].as_u64());
                counts.fold(0, u64::saturating_add)
            };
            [tokens(&INPUT_TOKENS), tokens(&["output_tokens"])]
        });
        row
    }
}

/// The fields of the usage that count prompt tokens.
const INPUT_TOKENS: [&str; 3] = [
    "input_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
];

impl Score {
    /// Adds the score, or each element of a list or an object.
    fn add_to(self, row: &mut TableRow, scorer: &str) {
        let mut notes = Map::new();
        for (key, text) in [("answer", self.answer), ("reason", self.reason)] {
            notes.extend(text.map(|text| (key.to_owned(), text.into())));
        }
        if let Some(metadata) = self.metadata.filter(|it| !it.is_empty()) {
            notes.insert("metadata".to_owned(), metadata.into());
        }
        // Our export adds the outcome of a failed metric, because inspect_ai knows only "not scored".
        let outcome = notes.get("metadata").map(|it| &it["dsrs_metrics_outcome"]);
        let has_failed = outcome.is_some_and(|outcome| *outcome == "metric_failed");
        let elements: Vec<(Option<String>, Value)> = match self.value {
            Value::Array(values) => {
                let names = (0_u64..).map(|number| Some(number.to_string()));
                names.zip(values).collect()
            }
            Value::Object(values) => {
                // The features of `serde_json` determine their order.
                let sorted = BTreeMap::from_iter(values).into_iter();
                sorted.map(|(name, value)| (Some(name), value)).collect()
            }
            value => vec![(None, value)],
        };
        for (element, value) in elements {
            let is_null = value.is_null();
            let score = row.score(scorer, number_or_verdict(value));
            score.element = element;
            score.reason.clone_from(&self.explanation);
            score.metadata.clone_from(&notes);
            if is_null && has_failed {
                let reason = self.explanation.as_deref();
                score.error = Some(reason.unwrap_or("metric_failed").to_owned());
            } else {
                // `NaN` was read as null.
                score.is_abstained = is_null;
            }
        }
    }
}

/// Returns a number or a verdict. Any other value stays unchanged. If inspect_ai cannot convert a value, it warns and
/// scores 0; here, the metric fails, which counts as 0.
fn number_or_verdict(value: Value) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    match (&**text, &*text.to_lowercase()) {
        ("C", _) | (_, "yes" | "true") => true.into(),
        ("I" | "N", _) | (_, "no" | "false") => false.into(),
        ("P", _) => 0.5.into(),
        (number, _) => match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => number.into(),
            _ => value,
        },
    }
}

/// Reads an id as a string, because some logs use integers.
fn id_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(id) => Ok(id),
        Value::Number(id) => Ok(id.to_string()),
        other => Err(D::Error::custom(format_args!(
            "`id`: expected a string or a number, found {}",
            found(&other)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The element, outcome, value and verdict.
    type Shown = (Option<String>, String, Option<f64>, Option<bool>);

    fn of(value: &Value) -> Vec<Shown> {
        let score: Score = serde_json::from_value(json!({ "value": value })).unwrap();
        let mut row = TableRow::new("q1");
        score.add_to(&mut row, "s");
        let scores = row.scores.into_iter();
        scores
            .map(|score| {
                let (name, outcome) = (score.element.clone(), score.outcome());
                let passed = outcome.scored().and_then(|scored| scored.passed);
                (name, outcome.name().to_owned(), outcome.value(), passed)
            })
            .collect()
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
