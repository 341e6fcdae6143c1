//! Result files: for each row its id, the ratings by its metrics, and its label.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::Value;

use super::error::AgreeError;
use super::labels::{self, Labels};
use crate::agreement::Rating;
use crate::core::rows::pair::Origin;
use crate::json::describe::found;
use crate::results::{ResultRow, ResultScore, ResultsError, rows};

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
    for row in rows(file)? {
        let (row, _) = row?;
        let at = row.at();
        if let Some(first) = seen.insert(row.id.clone(), at.line) {
            return Err(ResultsError::DuplicateId { at, id: row.id, first }.into());
        }
        results.add(row, metrics.is_empty(), label)?;
    }
    Ok(results)
}

impl Results {
    fn add(&mut self, row: ResultRow, all: bool, label: &str) -> Result<(), AgreeError> {
        for name in row.scores.keys() {
            if all && !self.ratings.contains_key(name) {
                // The rows before have no rating by this metric.
                let absent = vec![Rating::from(None::<bool>); self.ids.len()];
                self.ratings.insert(name.clone(), absent);
            }
            if !self.known.contains(name) {
                self.known.push(name.clone());
            }
        }
        for (name, ratings) in &mut self.ratings {
            ratings.push(rating(&row, name)?);
            let metric = name.split_once('.').map_or(&**name, |(metric, _)| metric);
            if row.scores.get(metric).is_some_and(|score| score.is_judged_offline) {
                *self.judged_offline.entry(name.clone()).or_default() += 1;
            }
        }
        self.labels.add(labels::in_result(&row, label)?, &row);
        self.places.push(row.at());
        self.ids.push(row.id);
        Ok(())
    }
}

/// The rating by a metric or, after a dot, by one of its parts, components or metadata entries.
fn rating(row: &ResultRow, name: &str) -> Result<Rating, AgreeError> {
    let (metric, part) = match name.split_once('.') {
        Some((metric, part)) => (metric, Some(part)),
        None => (name, None),
    };
    let Some(score) = row.scores.get(metric) else {
        return Ok(Rating::from(None::<bool>));
    };
    let Some(part) = part else {
        return Ok(rating_of(score));
    };
    if let Some(value) = score.parts.get(part) {
        return Ok(Rating::Score(*value));
    }
    if let Some(value) = score.metadata.get(part).filter(|value| !value.is_null()) {
        return rating_of_value(value).ok_or_else(|| AgreeError::InvalidField {
            at: row.at(),
            field: match row.is_textual {
                true => name.to_owned(),
                false => format!("scores.{name}"),
            },
            expected: "a bool, a number or a string",
            found: found(value),
        });
    }
    match score.components.get(part) {
        Some(component) => Ok(rating_of(component)),
        None if score.value.is_some() => Ok(Rating::from(None::<bool>)),
        None => Ok(rating_of(score)),
    }
}

fn rating_of(score: &ResultScore) -> Rating {
    match (score.value, score.passed) {
        (None, _) => Rating::Missing(score.outcome.name().into()),
        (Some(score), Some(passed)) => Rating::Verdict { passed, score },
        (Some(score), None) => Rating::Score(score),
    }
}

fn rating_of_value(value: &Value) -> Option<Rating> {
    match value {
        Value::Bool(passed) => Some(Rating::from(*passed)),
        Value::String(class) => Some(Rating::Class(class.clone())),
        other => other.as_f64().map(Rating::Score),
    }
}
