//! Builds rows and their scores for formats that consist of objects: `promptfoo.rs`, `ragas.rs`, `otlp` and others.

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::{Map, Value, json};

use super::detect::other_format;
use super::format::{Converted, Epochs};
use super::scores::{MetricNames, complete, invalid, program_run, scored};
use super::text::{as_string, each_document};
use crate::contract::{Fields, MetricError, MetricIdentity, MetricSpec, Outcome};
use crate::data::{Format, ObjectRows};
use crate::error::{FormatError, Input};
use crate::json::literal;
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRun, RowAttempt};

/// A row.
#[derive(Default)]
pub(super) struct TableRow {
    id: String,
    /// `true` if the id is the number of the row.
    is_positional: bool,
    pub(super) gold: Map<String, Value>,
    pub(super) pred: Map<String, Value>,
    pub(super) attributes: Fields,
    pub(super) scores: Vec<Score>,
    pub(super) latency_s: Option<f64>,
    pub(super) tokens: Option<[u64; 2]>,
    /// Why the program has no prediction.
    pub(super) error: Option<String>,
}

/// A score of a row, as the other program wrote it.
#[derive(Default)]
pub(super) struct Score {
    metric: String,
    /// The element of the metric's score that this is, if a score has several.
    pub(super) element: Option<String>,
    value: Value,
    /// `true` if the metric has no score for the row, which is not a failure.
    pub(super) is_abstained: bool,
    pub(super) passed: Option<bool>,
    pub(super) reason: Option<String>,
    pub(super) error: Option<String>,
    pub(super) metadata: Map<String, Value>,
}

impl TableRow {
    pub(super) fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// Creates a row whose id is its number in the file.
    pub(super) fn positional(id: impl Into<String>) -> Self {
        Self {
            is_positional: true,
            ..Self::new(id)
        }
    }

    /// Adds a score: a number or a verdict.
    pub(super) fn score(&mut self, metric: &str, value: impl Into<Value>) -> &mut Score {
        self.scores.push(Score {
            metric: metric.to_owned(),
            value: value.into(),
            ..Score::default()
        });
        let last = self.scores.len() - 1;
        &mut self.scores[last]
    }
}

impl Score {
    pub(super) fn outcome(self) -> Outcome {
        let value = match self.value.as_bool() {
            Some(passed) => Some(f64::from(u8::from(passed))),
            None => self.value.as_f64(),
        };
        match (self.error, value) {
            _ if self.is_abstained => Outcome::Abstained,
            (Some(error), _) => Outcome::from(MetricError::failed(&self.metric, error)),
            (None, None) => invalid(&self.metric, &self.value),
            (None, Some(value)) => {
                let passed = self.passed.or(self.value.as_bool());
                scored(value, passed, self.reason, self.metadata)
            }
        }
    }
}

/// The rows of a file.
#[derive(Default)]
pub(super) struct Table {
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
    /// `true` if rows with the same id are evaluations of one row.
    pub(super) has_repeats: bool,
    /// `true` if a row that lacks a metric of others is a failure of this metric.
    pub(super) is_complete: bool,
    /// The metric of each name, with the element of its score.
    metrics: IndexMap<String, (String, Option<String>)>,
    /// The names of scores that are not the first of their metric in a row.
    repeated: HashSet<String>,
    names: MetricNames,
    rows: IndexMap<String, ForeignRow>,
    /// The row and the evaluation of each error.
    failed: Vec<(usize, usize, String)>,
}

impl Table {
    /// Adds a row, or an evaluation of the row with this id. An attribute of several evaluations is the list of its
    /// values.
    ///
    /// # Errors
    /// Returns an error if another row has the same id.
    pub(super) fn add(&mut self, input: Input<'_>, row: TableRow) -> Result<(), FormatError> {
        let mut attempt = RowAttempt {
            pred: Some(Value::Object(row.pred)),
            run: program_run(row.latency_s, row.tokens),
            ..RowAttempt::default()
        };
        for score in row.scores {
            let mut name = self.declare(&score.metric, score.element.clone());
            let mut number = 2;
            while attempt.outcomes.contains_key(&name) {
                name = self.declare(&score.metric, Some(number.to_string()));
                number += 1;
                self.repeated.insert(name.clone());
            }
            attempt.outcomes.insert(name, score.outcome());
        }
        let entry = self.rows.entry(row.id);
        let place = entry.index();
        let evaluation = match entry {
            Entry::Occupied(first) if self.has_repeats => {
                let first = first.into_mut();
                for (name, value) in row.attributes {
                    match first.attributes.get_mut(&name) {
                        Some(Value::Array(values)) => values.push(value),
                        Some(other) => *other = json!([other.take(), value]),
                        None => drop(first.attributes.insert(name, value)),
                    }
                }
                first.attempts.push(attempt);
                first.attempts.len() - 1
            }
            Entry::Occupied(first) => {
                let id = escape::name(first.key());
                let reason = format_args!("duplicate row for id `{id}`; keep only one");
                return Err(input.whole(reason));
            }
            Entry::Vacant(new) => {
                let id = new.key().clone();
                new.insert(ForeignRow {
                    id,
                    is_positional: row.is_positional,
                    gold: Value::Object(row.gold),
                    attributes: row.attributes,
                    attempts: vec![attempt],
                });
                0
            }
        };
        let error = row.error.map(|error| (place, evaluation, error));
        self.failed.extend(error);
        Ok(())
    }

    /// Adds a metric, and returns our name for it.
    pub(super) fn declare(&mut self, metric: &str, element: Option<String>) -> String {
        let name = self.names.name(metric, element.as_deref());
        let metrics = self.metrics.entry(name.clone());
        metrics.or_insert_with(|| (metric.to_owned(), element));
        name
    }

    /// Adds a note if the file's header has another count.
    pub(super) fn check(&mut self, what: &str, header: Option<u64>, found: usize) {
        if let Some(header) = header.filter(|header| *header != found as u64) {
            self.notes.push(format!(
                "the header counts {header} {what}, but the rows have {found}; copy the file again"
            ));
        }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the metric of each name, with the element of its score.
    pub(super) fn metrics(&self) -> &IndexMap<String, (String, Option<String>)> {
        &self.metrics
    }

    pub(super) fn finish(self, epochs: Epochs) -> Converted {
        self.finish_with(epochs, |metric, _| {
            MetricIdentity::of_other_program(&MetricSpec::new(metric), BTreeMap::new())
        })
    }

    /// Returns the rows, with the identity of each metric and element.
    pub(super) fn finish_with(
        mut self,
        epochs: Epochs,
        identity: impl Fn(&str, Option<&str>) -> MetricIdentity,
    ) -> Converted {
        let mut rows: Vec<ForeignRow> = self.rows.into_values().collect();
        for (row, attempt, error) in self.failed {
            let row = &mut rows[row];
            row.attributes.insert("error", error.clone());
            if epochs == Epochs::Repeats {
                let error = error.into();
                let failed = Outcome::ProgramFailed { error };
                let names = self.metrics.keys().cloned();
                let attempt = &mut row.attempts[attempt];
                attempt.outcomes = names.map(|name| (name, failed.clone())).collect();
                attempt.pred = None;
            }
        }
        if self.is_complete {
            complete(&mut rows, &self.repeated);
        }
        let metrics = self.metrics.into_iter();
        let metrics =
            metrics.map(|(name, (metric, element))| (name, identity(&metric, element.as_deref())));
        self.run.metrics.extend(metrics);
        Converted {
            rows,
            run: self.run,
            notes: self.notes,
        }
    }
}

/// Returns the objects of a file: those of a list or of lines of JSON, or the rows of a CSV file.
pub(super) fn objects(input: Input<'_>, expected: &'static str) -> Result<Vec<Value>, FormatError> {
    if Format::of(input.file) == Some(Format::Csv) {
        let rows = ObjectRows::open(input.file, Some(Format::Csv)).map_err(FormatError::new)?;
        return rows
            .map(|row| {
                let row = row.map_err(FormatError::new)?;
                let cell = |key: &str| {
                    let value = row.find(key)?.into_owned();
                    // A cell with a list or an object is JSON or Python.
                    let literal = value.as_str().and_then(literal::parse);
                    Some((key.to_owned(), literal.unwrap_or(value)))
                };
                Ok(Value::Object(row.keys().filter_map(cell).collect()))
            })
            .collect();
    }
    let mut objects = Vec::new();
    each_document(input, expected, |_, document| {
        match document {
            Value::Array(items) => objects.extend(items),
            object => objects.push(object),
        }
        Ok(())
    })?;
    match objects.iter().all(Value::is_object) {
        true => Ok(objects),
        false => Err(other_format(
            input,
            expected,
            input.whole("expected objects"),
        )),
    }
}

/// Returns the first value at these JSON pointers, separated by spaces, that is not null or empty.
pub(super) fn at<'v>(value: &'v Value, pointers: &str) -> Option<&'v Value> {
    let mut found = pointers.split(' ').filter_map(|it| value.pointer(it));
    found.find(|it| !it.is_null() && *it != "")
}

/// Returns the string at these pointers, or another value as JSON.
pub(super) fn text(value: &Value, pointers: &str) -> Option<String> {
    at(value, pointers).map(as_string)
}

/// Returns the string at these pointers, or another value as JSON; `None` if it is empty.
pub(super) fn shown(value: &Value, pointers: &str) -> Option<String> {
    text(value, pointers).filter(|it| !["{}", "[]"].contains(&&**it))
}

/// Returns the items of a list that may be missing.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns fields with the values at their pointers.
pub(super) fn pick<F: FromIterator<(String, Value)>>(value: &Value, fields: &[(&str, &str)]) -> F {
    let field =
        |(name, pointers): &(&str, &str)| Some(((*name).to_owned(), at(value, pointers)?.clone()));
    fields.iter().filter_map(field).collect()
}

/// Adds fields, except those whose value is null.
pub(super) fn insert_present<'n>(
    fields: &mut Map<String, Value>,
    values: impl IntoIterator<Item = (&'n str, Value)>,
) {
    let values = values.into_iter().filter(|(_, value)| !value.is_null());
    fields.extend(values.map(|(name, value)| (name.to_owned(), value)));
}

/// Returns the tokens of prompt and reply at these pointers.
pub(super) fn tokens(value: &Value, input: &str, output: &str) -> Option<[u64; 2]> {
    Some([at(value, input)?.as_u64()?, at(value, output)?.as_u64()?])
}
