//! Result files read back: of each row its id, what its metrics gave, and what else stands there.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::error::AgreeError;
use super::labels::{self, Labels};
use crate::agreement::Rating;
use crate::cli::error::CliError;
use crate::core::rows::pair::Origin;
use crate::core::score::OFFLINE_JUDGE;
use crate::data::{LooseRow, LooseRows};
use crate::json::describe::found;

/// All rows of a result file. Every metric has a rating for each of them.
#[derive(Default)]
pub(super) struct Results {
    pub(super) ids: Vec<String>,
    pub(super) places: Vec<Origin>,
    pub(super) ratings: IndexMap<String, Vec<Rating>>,
    /// The metrics that there are, whichever were asked for.
    pub(super) known: Vec<String>,
    /// In how many rows the offline judge gave what a metric of `ratings` says.
    pub(super) judged_offline: HashMap<String, u64>,
    /// The labels that stand in the same rows.
    pub(super) labels: Labels,
}

/// Reads the ratings of these metrics, or of all if there are none, and the labels in this field.
pub(super) fn read(file: &Path, metrics: &[String], label: &str) -> Result<Results, CliError> {
    let mut results = Results::default();
    for name in metrics {
        results.ratings.insert(name.clone(), Vec::new());
    }
    let mut seen = HashMap::new();
    for row in LooseRows::open(file, None)? {
        let row = row?;
        if let Some(first) = seen.insert(row.id.clone(), row.at.line) {
            return Err(AgreeError::IdTwice { at: row.at, id: row.id, first }.into());
        }
        results.add(row, metrics.is_empty(), label)?;
    }
    Ok(results)
}

impl Results {
    fn add(&mut self, row: LooseRow, all: bool, label: &str) -> Result<(), AgreeError> {
        let names = metric_names(&row)?;
        for name in names {
            if all && !self.ratings.contains_key(&name) {
                // What the rows before do not have.
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
fn metric_names(row: &LooseRow) -> Result<Vec<String>, AgreeError> {
    let names: Vec<String> = match row.find("scores") {
        Some(Value::Object(scores)) => return Ok(scores.keys().cloned().collect()),
        _ => row.keys().filter_map(|key| key.strip_suffix(OUTCOME)).map(str::to_owned).collect(),
    };
    if row.textual && !names.is_empty() {
        return Ok(names);
    }
    let keys = row.keys().map(str::to_owned).collect();
    Err(AgreeError::NotResults { at: row.at.clone(), keys })
}

/// What a metric gave, or after a dot one of its parts, components or pieces of metadata.
fn rating(row: &LooseRow, name: &str) -> Result<Rating, AgreeError> {
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

/// Whether no model gave what this metric, or a component of it, says of the row. In CSV its details tell.
fn is_judged_offline(row: &LooseRow, name: &str) -> bool {
    let metric = name.split_once('.').map_or(name, |(metric, _)| metric);
    let entry = Entry { row, metric };
    let details = entry.get("details").and_then(|details| Some(details.as_str()?.to_owned()));
    let label = format!("judge: {OFFLINE_JUDGE}");
    details.is_some_and(|details| row.textual && details.contains(&label))
        || ["metadata", "components"].into_iter().filter_map(|key| entry.get(key)).any(bears_label)
}

fn bears_label(value: Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .any(|(key, value)| (key == "judge" && value == OFFLINE_JUDGE) || bears_label(value)),
        _ => false,
    }
}

/// One metric in one row.
struct Entry<'a> {
    row: &'a LooseRow,
    metric: &'a str,
}

impl Entry<'_> {
    /// A key of the metric's object, or the cell of that column.
    fn get(&self, key: &str) -> Option<Value> {
        let metric = self.metric;
        if !self.row.textual {
            return self.row.find("scores")?.get(metric)?.get(key).cloned();
        }
        let column = if key == "value" { metric.to_owned() } else { format!("{metric}.{key}") };
        Some(labels::from_cell(self.row.find(&column)?))
    }

    fn within(&self, key: &str, name: &str) -> Option<Value> {
        self.get(key)?.get(name).filter(|value| !value.is_null()).cloned()
    }

    /// `path` leads from the metric to where the values stand.
    fn rating(
        &self,
        path: &str,
        get: &dyn Fn(&str) -> Option<Value>,
    ) -> Result<Rating, AgreeError> {
        let outcome = get("outcome").unwrap_or_default();
        let Some(outcome) = outcome.as_str() else {
            return Err(self.bad(&format!("{path}outcome"), "text", &outcome));
        };
        if outcome != "scored" {
            return Ok(Rating::Missing(outcome.to_owned().into()));
        }
        let value = get("value").unwrap_or_default();
        let Some(score) = value.as_f64() else {
            return Err(self.bad(&format!("{path}value"), "a finite number", &value));
        };
        match get("passed").unwrap_or_default() {
            Value::Null => Ok(Rating::Score(score)),
            Value::Bool(passed) => Ok(Rating::Verdict { passed, score }),
            other => Err(self.bad(&format!("{path}passed"), "true, false or null", &other)),
        }
    }

    fn value(&self, value: &Value, part: &str) -> Result<Rating, AgreeError> {
        match value {
            Value::Bool(passed) => Ok(Rating::from(*passed)),
            Value::String(class) => Ok(Rating::Class(class.clone())),
            other => match other.as_f64() {
                Some(score) => Ok(Rating::Score(score)),
                None => Err(self.bad(part, "a bool, a number or text", other)),
            },
        }
    }

    fn bad(&self, path: &str, expected: &'static str, value: &Value) -> AgreeError {
        let metric = self.metric;
        let field = if self.row.textual && path == "value" {
            metric.to_owned()
        } else if self.row.textual {
            format!("{metric}.{path}")
        } else {
            format!("scores.{metric}.{path}")
        };
        AgreeError::BadField { at: self.row.at.clone(), field, expected, found: found(value) }
    }
}
