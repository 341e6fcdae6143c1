//! Result files: for each row its id, the ratings by its metrics, and its label.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::error::AgreeError;
use super::labels::{self, Labels};
use crate::agreement::Rating;
use crate::cli::hint::Hint;
use crate::core::rows::pair::Origin;
use crate::core::score::OFFLINE_JUDGE;
use crate::data::{ObjectRow, ObjectRows};
use crate::json::describe::found;

/// All rows of a result file. Every metric has a rating for each row.
#[derive(Default)]
pub(super) struct Results {
    pub(super) ids: Vec<String>,
    pub(super) places: Vec<Origin>,
    pub(super) ratings: IndexMap<String, Vec<Rating>>,
    /// All metrics in the file, for suggestions.
    pub(super) known: Vec<String>,
    /// For metrics of `ratings`, the number of rows that the offline judge rated.
    pub(super) judged_offline: HashMap<String, u64>,
    /// The labels in the same rows.
    pub(super) labels: Labels,
}

/// Reads the ratings by these metrics, or by all if the list is empty, and the labels in this
/// field.
pub(super) fn read(file: &Path, metrics: &[String], label: &str) -> Result<Results, AgreeError> {
    let mut results = Results::default();
    for name in metrics {
        results.ratings.insert(name.clone(), Vec::new());
    }
    let mut seen = HashMap::new();
    for row in ObjectRows::open(file, None)? {
        let row = row?;
        if let Some(first) = seen.insert(row.id.clone(), row.at.line) {
            return Err(AgreeError::DuplicateId { at: row.at, id: row.id, first });
        }
        results.add(row, metrics.is_empty(), label)?;
    }
    Ok(results)
}

impl Results {
    fn add(&mut self, row: ObjectRow, all: bool, label: &str) -> Result<(), AgreeError> {
        let names = metric_names(&row)?;
        for name in names {
            if all && !self.ratings.contains_key(&name) {
                // The rows before have no rating by this metric.
                let absent = vec![Rating::from(None::<bool>); self.ids.len()];
                self.ratings.insert(name.clone(), absent);
            }
            if !self.known.contains(&name) {
                self.known.push(name);
            }
        }
        for (name, ratings) in &mut self.ratings {
            ratings.push(rating(&row, name)?);
            if is_judged_offline(&row, name) {
                *self.judged_offline.entry(name.clone()).or_default() += 1;
            }
        }
        self.labels.add(labels::in_result(&row, label)?, &row);
        self.ids.push(row.id);
        self.places.push(row.at);
        Ok(())
    }
}

const OUTCOME: &str = ".outcome";

/// The metrics of a row: the keys of `scores`, or in CSV the columns with an outcome.
fn metric_names(row: &ObjectRow) -> Result<Vec<String>, AgreeError> {
    let names: Vec<String> = match row.find("scores") {
        Some(Value::Object(scores)) => return Ok(scores.keys().cloned().collect()),
        _ => row.keys().filter_map(|key| key.strip_suffix(OUTCOME)).map(str::to_owned).collect(),
    };
    if row.textual && !names.is_empty() {
        return Ok(names);
    }
    let keys = Hint::Only(row.keys().map(str::to_owned).collect());
    Err(AgreeError::NotResults { at: row.at.clone(), keys })
}

/// The rating by a metric or, after a dot, by one of its parts, components or metadata entries.
fn rating(row: &ObjectRow, name: &str) -> Result<Rating, AgreeError> {
    let (metric, part) = match name.split_once('.') {
        Some((metric, part)) => (metric, Some(part)),
        None => (name, None),
    };
    let entry = Entry { row, metric };
    let Some(outcome) = entry.get("outcome") else {
        return Ok(Rating::from(None::<bool>));
    };
    let Some(part) = part else {
        return entry.rating("", &|key| entry.get(key));
    };
    if let Some(value) = entry.within("parts", part).or_else(|| entry.within("metadata", part)) {
        return entry.value(&value, part);
    }
    match entry.within("components", part) {
        Some(Value::Object(component)) => {
            entry.rating(&format!("components.{part}."), &|key| component.get(key).cloned())
        }
        _ if outcome == "scored" => Ok(Rating::from(None::<bool>)),
        _ => entry.rating("", &|key| entry.get(key)),
    }
}

/// Whether the offline judge, not a model, rated the row for this metric or a component of it. In
/// CSV this is in the details.
fn is_judged_offline(row: &ObjectRow, name: &str) -> bool {
    let metric = name.split_once('.').map_or(name, |(metric, _)| metric);
    let entry = Entry { row, metric };
    let details = entry.get("details").and_then(|details| Some(details.as_str()?.to_owned()));
    let label = format!("judge: {OFFLINE_JUDGE}");
    details.is_some_and(|details| row.textual && details.contains(&label))
        || ["metadata", "components"]
            .into_iter()
            .filter_map(|key| entry.get(key))
            .any(has_offline_label)
}

fn has_offline_label(value: Value) -> bool {
    match value {
        Value::Object(fields) => fields.into_iter().any(|(key, value)| {
            (key == "judge" && value == OFFLINE_JUDGE) || has_offline_label(value)
        }),
        _ => false,
    }
}

/// The result of one metric in one row.
struct Entry<'a> {
    row: &'a ObjectRow,
    metric: &'a str,
}

impl Entry<'_> {
    /// The value of a key in the metric's object, or the cell of its column.
    fn get(&self, key: &str) -> Option<Value> {
        let metric = self.metric;
        if !self.row.textual {
            return self.row.find("scores")?.get(metric)?.get(key).cloned();
        }
        let column = if key == "value" { metric.to_owned() } else { format!("{metric}.{key}") };
        Some(labels::parse_cell(self.row.find(&column)?))
    }

    fn within(&self, key: &str, name: &str) -> Option<Value> {
        self.get(key)?.get(name).filter(|value| !value.is_null()).cloned()
    }

    /// The rating in the values that `get` returns; `path` is their path from the metric, for
    /// errors.
    fn rating(
        &self,
        path: &str,
        get: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Rating, AgreeError> {
        let outcome = get("outcome").unwrap_or_default();
        let Some(outcome) = outcome.as_str() else {
            return Err(self.invalid(&format!("{path}outcome"), "a string", &outcome));
        };
        if outcome != "scored" {
            return Ok(Rating::Missing(outcome.to_owned().into()));
        }
        let value = get("value").unwrap_or_default();
        let Some(score) = value.as_f64() else {
            return Err(self.invalid(&format!("{path}value"), "a finite number", &value));
        };
        match get("passed").unwrap_or_default() {
            Value::Null => Ok(Rating::Score(score)),
            Value::Bool(passed) => Ok(Rating::Verdict { passed, score }),
            other => Err(self.invalid(&format!("{path}passed"), "true, false or null", &other)),
        }
    }

    fn value(&self, value: &Value, part: &str) -> Result<Rating, AgreeError> {
        match value {
            Value::Bool(passed) => Ok(Rating::from(*passed)),
            Value::String(class) => Ok(Rating::Class(class.clone())),
            other => match other.as_f64() {
                Some(score) => Ok(Rating::Score(score)),
                None => Err(self.invalid(part, "a bool, a number or a string", other)),
            },
        }
    }

    fn invalid(&self, path: &str, expected: &'static str, value: &Value) -> AgreeError {
        let metric = self.metric;
        let field = if self.row.textual && path == "value" {
            metric.to_owned()
        } else if self.row.textual {
            format!("{metric}.{path}")
        } else {
            format!("scores.{metric}.{path}")
        };
        AgreeError::InvalidField { at: self.row.at.clone(), field, expected, found: found(value) }
    }
}
