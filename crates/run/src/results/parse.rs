//! Converts a row's object or columns to a [`ResultRow`], or returns an error that names the invalid key.

use indexmap::IndexSet;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::Segment;

use super::error::ResultsError;
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{Fields, Origin};
use crate::data::{GOLD_HASH, ObjectRow, POSITIONAL, PRED_HASH, attribute_columns, metric_of};
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::evaluate::report::{ResultRow, ResultScore};
use crate::json::read::with_zero;
use crate::json::{MAX_VALUES, found, is_too_large, text};
use crate::messages::escape;

/// The keys of a row besides id, gold row, prediction and scores.
const ROW_KEYS: [&str; 9] = [
    "attributes",
    "latency_s",
    "input_tokens",
    "output_tokens",
    "cost_msats",
    "traceback",
    REFERENCE_KEY,
    GOLD_HASH,
    PRED_HASH,
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

/// Converts the value of a key. For a text key, any other value becomes JSON text. In a column, a string's cell is the
/// string itself, and any other cell is parsed.
fn converted(key: &str, value: Value, is_flat: bool) -> Value {
    match key {
        _ if is_flat && is_empty(&value) => Value::Null,
        // Attribute columns have different names.
        "attributes" if is_flat => Value::Null,
        "details" | "feedback" | "error" | "gated_by" | "traceback" | REFERENCE_KEY => {
            text(value).map_or(Value::Null, Value::String)
        }
        "outcome" | GOLD_HASH | PRED_HASH => value,
        _ if is_flat => parse_cell(&value),
        _ => value,
    }
}

/// Converts a row to its record.
pub(super) fn checked(mut row: ObjectRow) -> Result<ResultRow, ResultsError> {
    let (at, is_flat) = (row.at.clone(), row.is_flat);
    let mut names = std::mem::take(&mut row.score_names);
    let pair = row.into_pair();
    let mut fields = pair.attributes;
    let gold = side(pair.gold.data, fields.remove("gold"));
    let pred = side(pair.pred.data, fields.remove("pred"));
    let columns = is_flat.then(|| attribute_columns(&fields));
    if is_flat {
        let metrics = fields.keys().filter_map(metric_of);
        names = metrics.map(str::to_owned).collect();
    }
    let is_result = match is_flat {
        true => !names.is_empty(),
        false => fields.get("scores").is_some_and(Value::is_object),
    };
    if !is_result {
        return Err(not_results(&fields, &at));
    }
    let names = IndexSet::<String>::from_iter(names);
    let (mut keys, mut scores) = keys_and_scores(fields, &names, is_flat);
    let read_score = |metric: &String| {
        let written = scores.remove(metric).unwrap_or_default();
        Ok((metric.clone(), score(written, metric, is_flat, &at)?))
    };
    let scores = names.iter().map(read_score);
    let scores = scores.collect::<Result<_, ResultsError>>()?;
    let mut key = |key: &str| converted(key, keys.remove(key).unwrap_or_default(), is_flat);
    let (repeats, is_positional) = (key("repeats"), key(POSITIONAL) == Value::Bool(true));
    let keys = ROW_KEYS.map(|name| (name.to_owned(), key(name)));
    let mut keys: Map<_, _> = keys.into_iter().filter(|(_, it)| !it.is_null()).collect();
    keys.insert("id".to_owned(), pair.id.into());
    keys.insert("scores".to_owned(), json!({}));
    let read: ResultRow = read(&Value::Object(keys), &str::to_owned, &at)?;
    let mut row = ResultRow {
        origin: Some(at),
        gold,
        pred,
        attributes: columns.unwrap_or(read.attributes),
        scores,
        repeats: Vec::deserialize(repeats).unwrap_or_default(),
        is_positional,
        is_flat,
        ..read
    };
    row.complete();
    Ok(row)
}

/// Splits the fields of a row into its own keys, and the scores of its metrics as objects. In a flat row, the column
/// `NAME` of a metric is the value of its score, and `NAME.KEY` is another key.
fn keys_and_scores(
    fields: Fields,
    names: &IndexSet<String>,
    is_flat: bool,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut keys, mut scores) = (Map::new(), Map::new());
    for (column, value) in fields {
        match (column.rsplit_once('.'), value) {
            (None, Value::Object(of_row)) if !is_flat && column == "scores" => scores = of_row,
            (_, value) if is_flat && names.contains(&column) => {
                scores.entry(column).or_insert_with(|| json!({}))["value"] = value;
            }
            (Some((metric, key)), value) if is_flat && names.contains(metric) => {
                scores.entry(metric).or_insert_with(|| json!({}))[key] = value;
            }
            (_, value) => drop(keys.insert(column, value)),
        }
    }
    (keys, scores)
}

/// Reads a score.
fn score(
    mut written: Value,
    metric: &str,
    is_flat: bool,
    at: &Origin,
) -> Result<ResultScore, ResultsError> {
    convert(&mut written, is_flat);
    let name = |key: &str| match key {
        "value" if is_flat => metric.to_owned(),
        key if is_flat => format!("{metric}.{key}"),
        "" => format!("scores.{metric}"),
        key => format!("scores.{metric}.{key}"),
    };
    let mut score: ResultScore = read(&written, &name, at)?;
    score.finish().map_err(|path| {
        ResultsError::invalid(at, &name(&path), expected("value"), &found(&Value::Null))
    })?;
    let label = format!("judge: {OFFLINE_JUDGE}");
    let mut details = score.details.iter().filter(|_| is_flat);
    score.is_judged_offline |= details.any(|it| it.contains(&label));
    Ok(score)
}

/// Deserializes a row or a score, or says which key is invalid. `name` is what a message calls a key.
fn read<T: DeserializeOwned>(
    written: &Value,
    name: &dyn Fn(&str) -> String,
    at: &Origin,
) -> Result<T, ResultsError> {
    serde_path_to_error::deserialize(written).map_err(|error| {
        let keys = error.path().iter().filter_map(|segment| match segment {
            Segment::Map { key } => Some(&**key),
            _ => None,
        });
        let mut keys: Vec<&str> = keys.collect();
        // A score's components have names, and an invalid key of a component is shown with its whole path.
        let mut depth = 1;
        while let Some(&"components") = keys.get(depth - 1) {
            depth += 2;
        }
        keys.truncate(depth);
        let expected = match &*keys {
            [.., key] if keys.len() % 2 == 1 => expected(key),
            // A whole score.
            _ => "an object",
        };
        let value = keys.iter().try_fold(written, |value, key| value.get(key));
        let found = found(value.unwrap_or(&Value::Null));
        ResultsError::invalid(at, &name(&keys.join(".")), expected, &found)
    })
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

/// Converts the keys of a score and of its components. A key without a value is removed, and null becomes an empty
/// score.
fn convert(score: &mut Value, is_flat: bool) {
    if score.is_null() {
        *score = json!({});
    }
    let Some(keys) = score.as_object_mut() else {
        return;
    };
    for (key, value) in keys.iter_mut() {
        *value = converted(key, value.take(), is_flat);
    }
    keys.retain(|_, value| !value.is_null());
    if *keys.entry("outcome").or_insert(Value::Null) != "scored" {
        keys.remove("value");
    }
    if let Some(Value::Object(components)) = keys.get_mut("components") {
        components.values_mut().for_each(|it| convert(it, false));
    }
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
