//! Converts a row's object to a [`ResultRow`].

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{MAX_METRICS, ResultsError};
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::score::corpus;
use crate::contract::{Fields, Origin};
use crate::data::{
    ATTRIBUTES, GOLD_HASH, OUTCOME, ObjectRow, POSITIONAL, PRED_HASH, attribute_columns,
    parse_hash, row_hash,
};
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::evaluate::report::{
    ResultOutcome, ResultRow, ResultScore, are_verdicts, is_judged_offline,
};
use crate::json::describe::{found, text};
use crate::json::numbers::with_zero;
use crate::json::size::{MAX_VALUES, is_too_large};
use crate::messages::escape;

/// A row in any format, before its fields are checked.
pub(super) struct UncheckedRow {
    at: Origin,
    id: String,
    gold: Option<Value>,
    pred: Option<Value>,
    /// All other keys, or columns.
    fields: Fields,
    /// `true` if the format has columns.
    is_flat: bool,
    /// The metrics, in file order.
    names: Vec<String>,
}

impl From<ObjectRow> for UncheckedRow {
    fn from(mut row: ObjectRow) -> Self {
        let names = std::mem::take(&mut row.score_names);
        let (at, is_flat) = (row.at.clone(), row.is_flat);
        let pair = row.into_pair();
        let mut fields = pair.attributes;
        let gold = side(pair.gold.data, fields.remove("gold"));
        let pred = side(pair.pred.data, fields.remove("pred"));
        Self {
            at,
            id: pair.id,
            gold,
            pred,
            fields,
            is_flat,
            names,
        }
    }
}

/// Returns a whole gold row or prediction: its fields, or its value if it is not an object.
fn side(fields: Fields, whole: Option<Value>) -> Option<Value> {
    let is_cell = fields.textual;
    let fields: Map<_, _> = fields
        .into_iter()
        .filter(|(_, value)| !is_cell || !is_empty(value))
        .collect();
    match whole.map(|whole| if is_cell { parse_cell(&whole) } else { whole }) {
        None if fields.is_empty() => None,
        None => Some(Value::Object(fields)),
        whole => whole.filter(|value| !value.is_null()),
    }
}

fn is_empty(cell: &Value) -> bool {
    cell.as_str().is_some_and(str::is_empty)
}

impl UncheckedRow {
    pub(super) fn check(mut self) -> Result<ResultRow, ResultsError> {
        // In file order, which reading the scores does not keep.
        let attributes = match self.is_flat {
            true => attribute_columns(&self.fields),
            false => self.attribute_object()?,
        };
        let mut scores = self.scores()?;
        let repeats = parse_cell(&self.cell("repeats"));
        for (name, score) in &mut scores {
            let repeats = repeats.as_array().into_iter().flatten();
            let repeats = repeats.filter_map(|repeat| repeat.get("scores")?.get(name));
            let repeats = repeats.map(|it| (it["value"].as_f64(), it["passed"].as_bool()));
            score.is_share = score.value.is_some() && are_verdicts(repeats);
        }
        Ok(ResultRow {
            latency_s: self.number("latency_s")?,
            input_tokens: self.count("input_tokens")?,
            output_tokens: self.count("output_tokens")?,
            cost_msats: self.count("cost_msats")?,
            traceback: self.fields.swap_remove("traceback").and_then(text),
            manifest: self
                .fields
                .swap_remove(REFERENCE_KEY)
                .and_then(text)
                .filter(|it| !it.is_empty()),
            // Files from an earlier version have only the gold row.
            gold_hash: self
                .hash(GOLD_HASH)?
                .or_else(|| row_hash(self.gold.as_ref()?)),
            pred_hash: self.hash(PRED_HASH)?,
            is_positional: self.cell(POSITIONAL) == Value::Bool(true),
            id: self.id,
            origin: Some(self.at),
            gold: self.gold,
            pred: self.pred,
            attributes,
            scores,
            repeats: Vec::new(),
            is_flat: self.is_flat,
        })
    }

    fn hash(&mut self, key: &str) -> Result<Option<u64>, ResultsError> {
        let value = self
            .fields
            .swap_remove(key)
            .filter(|value| !is_empty(value));
        let value = value.unwrap_or_default();
        let read = |value: &Value| parse_hash(value.as_str()?);
        typed(&value, read, &self.at, key, "16 hexadecimal digits")
    }

    fn scores(&mut self) -> Result<IndexMap<String, ResultScore>, ResultsError> {
        let (names, mut objects) = if self.is_flat {
            let metric = |column: &str| {
                let name = column.strip_suffix(OUTCOME)?;
                (!column.starts_with(ATTRIBUTES)).then(|| name.to_owned())
            };
            (self.columns(metric), Map::new())
        } else {
            let Some(Value::Object(scores)) = self.fields.swap_remove("scores") else {
                return Err(self.not_results());
            };
            (std::mem::take(&mut self.names), scores)
        };
        if self.is_flat && names.is_empty() {
            return Err(self.not_results());
        }
        if names.len() > MAX_METRICS {
            return Err(ResultsError::too_many_metrics(&self.at));
        }
        let score = |name: String| {
            let at = &self.at;
            let score = match self.is_flat {
                true => Keys {
                    at,
                    path: name.clone(),
                    keys: KeysOf::Columns(&mut self.fields),
                },
                false => {
                    let score = objects.remove(&name).unwrap_or_default();
                    Keys::of_object(score, at, format!("scores.{name}"))?
                }
            };
            Ok((name, score.check()?))
        };
        names.into_iter().map(score).collect()
    }

    fn attribute_object(&mut self) -> Result<Fields, ResultsError> {
        let attributes = self.fields.swap_remove("attributes").unwrap_or_default();
        Ok(object(attributes, &self.at, "attributes")?
            .into_iter()
            .collect())
    }

    fn columns(&self, named: impl Fn(&str) -> Option<String>) -> Vec<String> {
        self.fields.keys().filter_map(named).collect()
    }

    fn number(&mut self, key: &str) -> Result<Option<f64>, ResultsError> {
        let value = self.cell(key);
        let number = typed(&value, Value::as_f64, &self.at, key, NUMBER)?;
        Ok(number.map(|number| number + 0.0))
    }

    fn count(&mut self, key: &str) -> Result<Option<u64>, ResultsError> {
        let value = self.cell(key);
        typed(&value, Value::as_u64, &self.at, key, WHOLE)
    }

    fn cell(&mut self, key: &str) -> Value {
        let value = self.fields.swap_remove(key).unwrap_or_default();
        if self.fields.textual {
            parse_cell(&value)
        } else {
            value
        }
    }

    fn not_results(&self) -> ResultsError {
        let keys: Vec<_> = self.fields.keys().collect();
        let only = match &*keys {
            [] => String::new(),
            keys => format!(", only {}", escape::names(keys.iter().copied())),
        };
        ResultsError::read(format!(
            "{}: no `scores` in the row{only}; expected a file written by `score --out`",
            self.at
        ))
    }
}

const OUTCOMES: &str = "scored, counted, gated, skipped, abstained, not_needed, not_sampled, metric_failed or program_failed";
const NUMBER: &str = "a number or null";
const WHOLE: &str = "a whole number, at least 0";
const CORPUS: &str = "the contribution of a row to a score of all rows, as `score --out` writes it";

/// The keys of a score before they are checked.
struct Keys<'a> {
    at: &'a Origin,
    /// The path of the score for error messages, or the column of its value.
    path: String,
    keys: KeysOf<'a>,
}

enum KeysOf<'a> {
    Object(Map<String, Value>),
    /// `PATH` is the value, and `PATH.KEY` any other key.
    Columns(&'a mut Fields),
}

impl<'a> Keys<'a> {
    fn of_object(value: Value, at: &'a Origin, path: String) -> Result<Self, ResultsError> {
        let keys = KeysOf::Object(object(value, at, &path)?);
        Ok(Self { at, path, keys })
    }

    fn check(mut self) -> Result<ResultScore, ResultsError> {
        let outcome = self.outcome()?;
        let value = match outcome {
            ResultOutcome::Scored => Some(self.value()?),
            _ => None,
        };
        let passed = self.typed("passed", Value::as_bool, "true, false or null")?;
        let metadata = self.object("metadata")?;
        let components = self.components()?;
        let details = self.text("details");
        let is_cell = matches!(self.keys, KeysOf::Columns(_));
        let is_judged_offline = is_judged_offline(&metadata, &components)
            || is_cell && details.as_deref().is_some_and(shows_offline_label);
        Ok(ResultScore {
            outcome,
            value,
            passed: passed.filter(|_| value.is_some()),
            confidence: self.typed("confidence", Value::as_f64, NUMBER)?,
            details,
            feedback: self.text("feedback"),
            error: self.text("error"),
            cost_msats: self.typed("cost_msats", Value::as_u64, WHOLE)?.unwrap_or(0),
            missing: self
                .read("missing", "a list of fields")?
                .unwrap_or_default(),
            gated_by: self.text("gated_by"),
            budget_msats: self.typed("budget_msats", Value::as_u64, WHOLE)?,
            probability: self.typed("probability", Value::as_f64, NUMBER)?,
            parts: self
                .read("parts", "an object of numbers")?
                .unwrap_or_default(),
            metadata,
            components,
            corpus: self.typed("corpus", corpus::restore, CORPUS)?,
            written_corpus: None,
            is_share: false,
            is_judged_offline,
        })
    }

    fn outcome(&mut self) -> Result<ResultOutcome, ResultsError> {
        let value = self.take("outcome", true);
        let outcome = ResultOutcome::deserialize(&value)
            .ok()
            .filter(|_| value.is_string());
        outcome.ok_or_else(|| self.invalid("outcome", OUTCOMES, &value))
    }

    fn value(&mut self) -> Result<f64, ResultsError> {
        let value = self.take("value", false);
        let finite = value.as_f64().filter(|value| value.is_finite());
        finite.ok_or_else(|| self.invalid("value", "a finite number", &value))
    }

    fn components(&mut self) -> Result<IndexMap<String, ResultScore>, ResultsError> {
        let components = self.object("components")?;
        let component = |(name, value): (String, Value)| {
            let path = format!("{}.{name}", self.name("components"));
            Ok((name, Keys::of_object(value, self.at, path)?.check()?))
        };
        components.into_iter().map(component).collect()
    }

    fn text(&mut self, key: &str) -> Option<String> {
        text(self.take(key, true))
    }

    fn read<T: DeserializeOwned>(
        &mut self,
        key: &str,
        expected: &'static str,
    ) -> Result<Option<T>, ResultsError> {
        self.typed(key, |value| T::deserialize(value).ok(), expected)
    }

    fn object(&mut self, key: &str) -> Result<Map<String, Value>, ResultsError> {
        object(self.take(key, false), self.at, &self.name(key))
    }

    fn typed<T>(
        &mut self,
        key: &str,
        read: impl Fn(&Value) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, ResultsError> {
        let value = self.take(key, false);
        typed(&value, read, self.at, &self.name(key), expected)
    }

    /// Takes the value of a key. A string's cell is the string itself; other cells are parsed.
    fn take(&mut self, key: &str, is_text: bool) -> Value {
        let column = self.name(key);
        match &mut self.keys {
            KeysOf::Object(keys) => keys.remove(key).unwrap_or_default(),
            KeysOf::Columns(columns) => {
                let cell = columns.swap_remove(&column).filter(|cell| !is_empty(cell));
                let cell = cell.unwrap_or_default();
                if is_text { cell } else { parse_cell(&cell) }
            }
        }
    }

    /// Returns the path of a key, or its column.
    fn name(&self, key: &str) -> String {
        match self.keys {
            KeysOf::Columns(_) if key == "value" => self.path.clone(),
            _ => format!("{}.{key}", self.path),
        }
    }

    fn invalid(&self, key: &str, expected: &'static str, value: &Value) -> ResultsError {
        ResultsError::invalid(self.at, &self.name(key), expected, &found(value))
    }
}

fn shows_offline_label(details: &str) -> bool {
    details.contains(&format!("judge: {OFFLINE_JUDGE}"))
}

/// Reads a value that may be null.
fn typed<T>(
    value: &Value,
    read: impl Fn(&Value) -> Option<T>,
    at: &Origin,
    field: &str,
    expected: &'static str,
) -> Result<Option<T>, ResultsError> {
    if value.is_null() {
        return Ok(None);
    }
    let invalid = || ResultsError::invalid(at, field, expected, &found(value));
    read(value).map(Some).ok_or_else(invalid)
}

/// Reads an object; null gives an empty one.
fn object(value: Value, at: &Origin, field: &str) -> Result<Map<String, Value>, ResultsError> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(object) => Ok(object),
        other => Err(ResultsError::invalid(
            at,
            field,
            "an object",
            &found(&other),
        )),
    }
}

/// Parses a CSV cell: null if it is empty, a bool (including Python's and spreadsheets' spelling), or a number, list or
/// object as JSON. Anything else is a string, including a list with more values than a row may have.
#[doc(hidden)]
pub fn parse_cell(cell: &Value) -> Value {
    let Value::String(text) = cell else {
        return cell.clone();
    };
    match text.trim() {
        "" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        trimmed if is_too_large(trimmed, MAX_VALUES) => cell.clone(),
        trimmed => match serde_json::from_str(trimmed) {
            Ok(value @ (Value::Number(_) | Value::Array(_) | Value::Object(_))) => value,
            _ => match with_zero(trimmed).map(|number| serde_json::from_str(&number)) {
                Some(Ok(number)) => number,
                _ => cell.clone(),
            },
        },
    }
}
