//! Converts a row's object or columns to a [`ResultRow`], or returns an error that names the invalid key.

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::error::{MAX_METRICS, ResultsError};
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{Fields, Origin};
use crate::data::{
    ATTRIBUTES, GOLD_HASH, OUTCOME, ObjectRow, POSITIONAL, PRED_HASH, attribute_columns,
};
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};
use crate::json::read::with_zero;
use crate::json::{MAX_VALUES, found, is_too_large, text};
use crate::messages::escape;

/// The keys of a row besides gold row, prediction, attributes and scores, in the order in which they are checked.
const ROW_KEYS: [&str; 8] = [
    "latency_s",
    "input_tokens",
    "output_tokens",
    "cost_msats",
    "traceback",
    REFERENCE_KEY,
    GOLD_HASH,
    PRED_HASH,
];

/// The keys of a score, in the order in which they are checked.
const SCORE_KEYS: [&str; 16] = [
    "outcome",
    "value",
    "passed",
    "metadata",
    "components",
    "confidence",
    "details",
    "feedback",
    "error",
    "cost_msats",
    "missing",
    "gated_by",
    "budget_msats",
    "probability",
    "parts",
    "corpus",
];

/// Says what the value of a key must be.
fn expected(key: &str) -> &'static str {
    match key {
        "outcome" => {
            "scored, counted, gated, skipped, abstained, not_needed, not_sampled, metric_failed or program_failed"
        }
        "value" => "a finite number",
        "passed" => "true, false or null",
        "confidence" | "probability" | "latency_s" => "a number or null",
        "cost_msats" | "budget_msats" | "input_tokens" | "output_tokens" => {
            "a non-negative whole number"
        }
        "missing" => "a list of fields",
        "parts" => "an object of numbers",
        "corpus" => "a row's contribution to a corpus score, as written by `score --out`",
        GOLD_HASH | PRED_HASH => "16 hexadecimal digits",
        _ => "an object",
    }
}

/// Converts the value of a key. Text keys have any other value as JSON. In a column, the cell of a string is the string
/// itself, and any other cell is parsed.
fn converted(key: &str, value: Option<Value>, is_flat: bool) -> Value {
    let value = value.filter(|value| !is_flat || !is_empty(value));
    let value = value.unwrap_or_default();
    match key {
        "details" | "feedback" | "error" | "gated_by" | "traceback" | REFERENCE_KEY => {
            text(value).map_or(Value::Null, Value::String)
        }
        "outcome" | GOLD_HASH | PRED_HASH => value,
        _ if is_flat => parse_cell(&value),
        _ => value,
    }
}

/// Returns the record of a row.
pub(super) fn checked(mut row: ObjectRow) -> Result<ResultRow, ResultsError> {
    let names = std::mem::take(&mut row.score_names);
    let (at, is_flat) = (row.at.clone(), row.is_flat);
    let pair = row.into_pair();
    let mut fields = pair.attributes;
    let gold = side(pair.gold.data, fields.remove("gold"));
    let pred = side(pair.pred.data, fields.remove("pred"));
    // In file order, which reading the scores does not keep.
    let attributes = match is_flat {
        true => attribute_columns(&fields),
        false => {
            let attributes = fields.swap_remove("attributes").unwrap_or_default();
            object(attributes, &at, "attributes")?.into_iter().collect()
        }
    };
    let scores = scores(&mut fields, names, is_flat, &at)?;
    let mut key = |key: &str| converted(key, fields.swap_remove(key), is_flat);
    let (repeats, is_positional) = (key("repeats"), key(POSITIONAL) == Value::Bool(true));
    let keys = ROW_KEYS.map(|name| (name.to_owned(), key(name)));
    let base = json!({ "id": pair.id, "scores": {} });
    let read: ResultRow = record(&mut keys.into_iter().collect(), &base, &at, &str::to_owned)?;
    let row = ResultRow {
        origin: Some(at),
        gold,
        pred,
        attributes,
        scores,
        repeats: Vec::deserialize(repeats).unwrap_or_default(),
        is_positional,
        is_flat,
        ..read
    };
    Ok(row.completed())
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

/// Returns the results of the metrics, in file order.
fn scores(
    fields: &mut Fields,
    names: Vec<String>,
    is_flat: bool,
    at: &Origin,
) -> Result<IndexMap<String, ResultScore>, ResultsError> {
    let metric = |column: &str| {
        let name = column.strip_suffix(OUTCOME)?;
        (!column.starts_with(ATTRIBUTES)).then(|| name.to_owned())
    };
    let (names, mut objects) = match is_flat {
        true => (fields.keys().filter_map(metric).collect(), Map::new()),
        false => match fields.swap_remove("scores") {
            Some(Value::Object(scores)) => (names, scores),
            _ => return Err(not_results(fields, at)),
        },
    };
    if is_flat && names.is_empty() {
        return Err(not_results(fields, at));
    }
    if names.len() > MAX_METRICS {
        return Err(ResultsError::too_many_metrics(at));
    }
    let score = |name: String| {
        let score = match is_flat {
            true => {
                let column = |key: &str| match key {
                    "value" => name.clone(),
                    _ => format!("{name}.{key}"),
                };
                score(|key| fields.swap_remove(&column(key)), &column, true, at)?
            }
            false => {
                let score = objects.remove(&name).unwrap_or_default();
                score_of_object(score, &format!("scores.{name}"), at)?
            }
        };
        Ok((name, score))
    };
    names.into_iter().map(score).collect()
}

fn not_results(fields: &Fields, at: &Origin) -> ResultsError {
    let keys: Vec<_> = fields.keys().collect();
    let only = match &*keys {
        [] => String::new(),
        keys => format!(", only {}", escape::names(keys.iter().copied())),
    };
    ResultsError::read(format!(
        "{at}: expected a row with `scores`, as written by `score --out`, found none{only}"
    ))
}

fn score_of_object(value: Value, path: &str, at: &Origin) -> Result<ResultScore, ResultsError> {
    let mut keys = object(value, at, path)?;
    score(
        |key| keys.remove(key),
        &|key| format!("{path}.{key}"),
        false,
        at,
    )
}

/// Returns the record of a score. `take` removes the value of a key, and `name` is what a message calls it.
fn score(
    mut take: impl FnMut(&str) -> Option<Value>,
    name: &dyn Fn(&str) -> String,
    is_flat: bool,
    at: &Origin,
) -> Result<ResultScore, ResultsError> {
    let keys = SCORE_KEYS.map(|key| (key.to_owned(), converted(key, take(key), is_flat)));
    let mut keys = Map::from_iter(keys);
    let components = keys.remove("components").unwrap_or_default();
    if keys["outcome"] != "scored" {
        keys.remove("value");
    }
    let mut score: ResultScore = record(&mut keys, &json!({ "outcome": "abstained" }), at, name)?;
    if score.finish().is_none() {
        let has_value = score.outcome != ResultOutcome::Scored || score.value.is_some();
        let key = if has_value { "corpus" } else { "value" };
        let value = keys.get(key).unwrap_or(&Value::Null);
        return Err(ResultsError::invalid(
            at,
            &name(key),
            expected(key),
            &found(value),
        ));
    }
    for (component, value) in object(components, at, &name("components"))? {
        let path = format!("{}.{component}", name("components"));
        let of_component = score_of_object(value, &path, at)?;
        score.is_judged_offline |= of_component.is_judged_offline;
        score.components.insert(component, of_component);
    }
    let label = format!("judge: {OFFLINE_JUDGE}");
    let is_labelled = score
        .details
        .as_deref()
        .is_some_and(|it| it.contains(&label));
    score.is_judged_offline |= is_flat && is_labelled;
    Ok(score)
}

/// Deserializes a record from its keys, or names the first invalid one. `base` has the keys that every record needs.
fn record<T: DeserializeOwned>(
    keys: &mut Map<String, Value>,
    base: &Value,
    at: &Origin,
    name: &dyn Fn(&str) -> String,
) -> Result<T, ResultsError> {
    keys.retain(|key, value| !value.is_null() || base.get(key).is_some());
    let read = |keys: Map<String, Value>| {
        let mut all = base.as_object().cloned().unwrap_or_default();
        all.extend(keys);
        T::deserialize(Value::Object(all))
    };
    read(keys.clone()).map_err(|error| {
        let is_invalid = |key: &&str| {
            let value = keys.get(*key).cloned();
            value.is_some_and(|value| read(Map::from_iter([((*key).to_owned(), value)])).is_err())
        };
        match ROW_KEYS.into_iter().chain(SCORE_KEYS).find(is_invalid) {
            Some(key) => ResultsError::invalid(at, &name(key), expected(key), &found(&keys[key])),
            None => ResultsError::read(format!("{at}: {error}")),
        }
    })
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

/// Parses a CSV cell.
///
/// An empty cell is null. Booleans can be spelled as in Python or in spreadsheets. Numbers, lists and objects are
/// parsed as JSON. Any other cell is a string.
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
