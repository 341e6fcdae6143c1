//! Result files: each row's id, its ratings, and its label.

use std::path::PathBuf;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::labels::{self, Labels};
use crate::agreement::Rating;
use crate::contract::MetricIdentity;
use crate::data::NamedFile;
use crate::error::Result;
use crate::evaluate::{JudgedBy, JudgedByTally};
use crate::results::{
    MAX_METRICS, Manifest, ResultRow, ResultScore, ResultsError, RowIndex, read_manifest, read_rows,
};
use crate::runs::metric_of;

/// All rows of a result file.
pub(super) struct Results {
    pub(super) file: PathBuf,
    /// The manifest, or why there is none.
    pub(super) manifest: Result<Box<Manifest>, String>,
    pub(super) rows: RowIndex,
    /// What the rows say about each metric that is compared.
    metrics: IndexMap<String, Rated>,
    /// The hash of each prediction.
    preds: Vec<Option<u64>>,
    /// All metrics in the file, for suggestions.
    pub(super) known: IndexSet<String>,
    /// The labels in the same rows.
    pub(super) labels: Labels,
}

/// What the rows say about a metric.
#[derive(Default)]
struct Rated {
    /// The ratings. The list is shorter than the list of rows if the last rows lack the metric.
    ratings: Vec<Rating>,
    /// The number of rows that were judged offline.
    judged_offline: u64,
    /// The models that answered for its judges.
    replied_by: JudgedByTally,
}

/// Reads the ratings by these metrics, or by all if the list is empty, and the labels in this
/// field.
pub(super) fn read(file: NamedFile<'_>, metrics: &[String], label: &str) -> Result<Results> {
    let names = metrics.iter().map(|name| (name.clone(), Rated::default()));
    let mut results = Results {
        file: file.name.to_owned(),
        manifest: Err(String::new()),
        rows: RowIndex::default(),
        metrics: names.collect(),
        preds: Vec::new(),
        known: IndexSet::new(),
        labels: Labels::default(),
    };
    let references = read_rows(file, |row, _| results.add(&row, metrics, label))?;
    results.manifest = read_manifest(file.path, &references).map_err(ResultsError::from)?;
    Ok(results)
}

impl Results {
    /// Returns the identity of a metric; `None` for a part, or if it is unknown.
    pub(super) fn identity(&self, metric: &str) -> Option<&MetricIdentity> {
        self.manifest.as_ref().ok()?.run.metrics.get(metric)
    }

    /// Returns the models that answered for a metric's judges, from the manifest if possible, otherwise from the rows,
    /// which lack them in a CSV file. Empty for a part.
    pub(super) fn judged_by(&self, metric: &str) -> Vec<JudgedBy> {
        let manifest = self.manifest.as_ref().ok();
        let in_manifest = manifest.and_then(|manifest| manifest.run.judged_by.get(metric));
        let in_rows = || self.metrics.get(metric).map(|it| it.replied_by.named());
        in_manifest.cloned().or_else(in_rows).unwrap_or_default()
    }

    /// Adds a row.
    fn add(&mut self, row: &ResultRow, metrics: &[String], label: &str) -> Result<()> {
        let place = self.rows.len();
        self.rows.add(row)?;
        self.preds.push(row.pred_hash());
        for name in row.scores.keys() {
            if !self.known.contains(name) {
                self.known.insert(name.clone());
            }
        }
        if self.known.len() > MAX_METRICS {
            return Err(ResultsError::too_many_metrics(&self.rows.at(place)).into());
        }
        let of_row = row.scores.keys().filter(|_| metrics.is_empty());
        for name in of_row.chain(metrics) {
            self.add_rating(name, place, row)?;
        }
        self.labels.add(labels::in_result(row, label)?, row);
        Ok(())
    }

    fn add_rating(&mut self, name: &str, place: usize, row: &ResultRow) -> Result<()> {
        let rating = rating(row, name)?;
        if !self.metrics.contains_key(name) {
            self.metrics.insert(name.to_owned(), Rated::default());
        }
        let rated = &mut self.metrics[name];
        let metric = row.scores.get(metric_of(name));
        rated.judged_offline += u64::from(metric.is_some_and(|it| it.is_judged_offline));
        for replied_by in row
            .scores
            .get(name)
            .into_iter()
            .flat_map(ResultScore::replied_by)
        {
            rated.replied_by.add(replied_by);
        }
        if rating != absent() {
            rated.ratings.resize(place, absent());
            rated.ratings.push(rating);
        }
        Ok(())
    }

    /// Returns the metrics that are compared, in the order of the file or of the command.
    pub(super) fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.keys().map(String::as_str)
    }

    /// Returns the number of rows that were judged offline.
    pub(super) fn judged_offline(&self, metric: &str) -> u64 {
        self.metrics.get(metric).map_or(0, |it| it.judged_offline)
    }

    /// Returns the hashes of a row's gold row and prediction, if they are known.
    pub(super) fn hashes(&self, row: usize) -> [Option<u64>; 2] {
        [self.rows.gold_hash(row), self.preds[row]]
    }

    /// Returns `true` if a metric has a rating in any row.
    pub(super) fn is_rated(&self, metric: &str) -> bool {
        let rated = self.metrics.get(metric);
        rated.is_some_and(|rated| !rated.ratings.is_empty())
    }

    /// Returns the ratings by a metric, one for each row.
    pub(super) fn ratings(&self, metric: &str) -> Vec<Rating> {
        let rated = self.metrics.get(metric);
        let mut all = rated.map_or_else(Vec::new, |rated| rated.ratings.clone());
        all.resize(self.rows.len(), absent());
        all
    }
}

fn absent() -> Rating {
    Rating::from(None::<bool>)
}

/// Returns the rating by a metric or, after a dot, by one of its parts, components or metadata entries.
fn rating(row: &ResultRow, name: &str) -> Result<Rating> {
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
        return rating_of_value(value).ok_or_else(|| {
            let scores = if row.is_flat { "" } else { "scores." };
            labels::invalid_field(&row.at(), &format!("{scores}{name}"), value)
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
