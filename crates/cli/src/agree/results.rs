//! Result files: for each row its id, the ratings by its metrics, and its label.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::AgreeError;
use super::labels::{self, Labels};
use crate::agreement::Rating;
use crate::core::metric::identity::MetricIdentity;
use crate::core::rows::pair::Origin;
use crate::evaluate::{JudgedBy, JudgedByTally};
use crate::json::describe::found;
use crate::results::{
    MAX_METRICS, Manifest, ResultRow, ResultScore, ResultsError, read_manifest, rows,
};

/// All rows of a result file.
pub(super) struct Results {
    pub(super) file: PathBuf,
    /// The manifest, or the reason why there is none.
    pub(super) manifest: Result<Box<Manifest>, String>,
    /// The gold row of each id, and whether it is from a format with columns.
    golds: HashMap<String, (Value, bool)>,
    pub(super) ids: Vec<String>,
    pub(super) places: Vec<Origin>,
    /// The ratings by each metric, with the positions of their rows. Rows may have different metrics.
    ratings: IndexMap<String, Vec<(usize, Rating)>>,
    /// All metrics in the file, for suggestions.
    pub(super) known: IndexSet<String>,
    /// For metrics of `ratings`, the number of rows that the offline judge rated.
    pub(super) judged_offline: HashMap<String, u64>,
    /// For metrics of `ratings`, the models that replied to their judges, as the rows have them.
    replied_by: HashMap<String, JudgedByTally>,
    /// The labels in the same rows.
    pub(super) labels: Labels,
}

/// Reads the ratings by these metrics, or by all if the list is empty, and the labels in this
/// field.
pub(super) fn read(file: &Path, metrics: &[String], label: &str) -> Result<Results, AgreeError> {
    let mut results = Results::new(file);
    let mut references = Vec::new();
    for name in metrics {
        results.ratings.insert(name.clone(), Vec::new());
    }
    let mut seen = HashMap::new();
    for row in rows(file)? {
        let (mut row, _) = row?;
        references.extend(row.manifest.take());
        let at = row.at();
        if let Some(first) = seen.insert(row.id.clone(), at.line) {
            return Err(ResultsError::DuplicateId { at, id: row.id, first }.into());
        }
        results.add(row, metrics.is_empty(), label)?;
    }
    results.manifest = read_manifest(file, &references).map_err(ResultsError::from)?;
    Ok(results)
}

impl Results {
    fn new(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            manifest: Err(String::new()),
            golds: HashMap::new(),
            ids: Vec::new(),
            places: Vec::new(),
            ratings: IndexMap::new(),
            known: IndexSet::new(),
            judged_offline: HashMap::new(),
            replied_by: HashMap::new(),
            labels: Labels::default(),
        }
    }

    /// The identity of a metric; `None` of a part, or if it is unknown.
    pub(super) fn identity(&self, metric: &str) -> Option<&MetricIdentity> {
        self.manifest.as_ref().ok()?.run.metrics.get(metric)
    }

    /// The models that replied to the judges of a metric, from the manifest, or else from the rows: a CSV file does not have
    /// them. None of a part.
    pub(super) fn judged_by(&self, metric: &str) -> Vec<JudgedBy> {
        let manifest = self.manifest.as_ref().ok();
        let in_manifest = manifest.and_then(|manifest| manifest.run.judged_by.get(metric));
        let in_rows = || self.replied_by.get(metric).map(JudgedByTally::named);
        in_manifest.cloned().or_else(in_rows).unwrap_or_default()
    }

    /// Whether the results have another gold row with this id. The fields of a CSV file are strings.
    pub(super) fn has_other_gold(&self, id: &str, gold: &Value, is_flat: bool) -> bool {
        self.golds.get(id).is_some_and(|(own, own_is_flat)| *own_is_flat == is_flat && own != gold)
    }

    fn add(&mut self, row: ResultRow, all: bool, label: &str) -> Result<(), AgreeError> {
        for name in row.scores.keys() {
            if !self.known.contains(name) {
                self.known.insert(name.clone());
            }
        }
        if self.known.len() > MAX_METRICS {
            return Err(ResultsError::too_many_metrics(&row.at()).into());
        }
        let names: Vec<String> = match all {
            true => row.scores.keys().cloned().collect(),
            false => self.ratings.keys().cloned().collect(),
        };
        for name in &names {
            let rating = rating(&row, name)?;
            let ratings = self.ratings.entry(name.clone()).or_default();
            if rating != absent() {
                ratings.push((self.ids.len(), rating));
            }
            let metric = name.split_once('.').map_or(&**name, |(metric, _)| metric);
            if row.scores.get(metric).is_some_and(|score| score.is_judged_offline) {
                *self.judged_offline.entry(name.clone()).or_default() += 1;
            }
            for replied_by in row.scores.get(name).map(ResultScore::replied_by).unwrap_or_default()
            {
                self.replied_by.entry(name.clone()).or_default().add(replied_by);
            }
        }
        self.labels.add(labels::in_result(&row, label)?, &row);
        self.places.push(row.at());
        if let Some(gold) = row.gold {
            self.golds.insert(row.id.clone(), (gold, row.is_flat));
        }
        self.ids.push(row.id);
        Ok(())
    }

    /// The metrics that are compared, in the order of the file or of the command.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &str> {
        self.ratings.keys().map(String::as_str)
    }

    /// Whether a metric has a rating in any row.
    pub(super) fn is_rated(&self, metric: &str) -> bool {
        self.ratings.get(metric).is_some_and(|ratings| !ratings.is_empty())
    }

    /// The ratings by a metric, one for each row.
    pub(super) fn ratings(&self, metric: &str) -> Vec<Rating> {
        let mut all = vec![absent(); self.ids.len()];
        for (row, rating) in self.ratings.get(metric).into_iter().flatten() {
            all[*row] = rating.clone();
        }
        all
    }
}

fn absent() -> Rating {
    Rating::from(None::<bool>)
}

/// The rating by a metric or, after a dot, by one of its parts, components or metadata entries.
fn rating(row: &ResultRow, name: &str) -> Result<Rating, AgreeError> {
    let (metric, part) = match name.split_once('.') {
        Some((metric, part)) => (metric, Some(part)),
        None => (name, None),
    };
    let Some(score) = row.scores.get(metric) else {
        return Ok(absent());
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
            field: match row.is_flat {
                true => name.to_owned(),
                false => format!("scores.{name}"),
            },
            expected: "a bool, a number or a string",
            found: found(value),
        });
    }
    match score.components.get(part) {
        Some(component) => Ok(rating_of(component)),
        None if score.value.is_some() => Ok(absent()),
        None => Ok(rating_of(score)),
    }
}

pub(crate) fn rating_of(score: &ResultScore) -> Rating {
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
