//! Builds rows and their scores for formats that consist of objects: `promptfoo.rs`, `ragas.rs`, `otlp` and others.

use std::collections::{BTreeMap, HashSet};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::detect::other_format;
use super::format::{Converted, Epochs};
use super::scores::{MetricNames, invalid, program_run, scored};
use super::text::{as_string, each_document};
use crate::contract::{Direction, Fields, MetricError, MetricIdentity, MetricSpec, Outcome};
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
    value: Value,
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
    fn outcome(self) -> Outcome {
        let value = match self.value.as_bool() {
            Some(passed) => Some(f64::from(u8::from(passed))),
            None => self.value.as_f64(),
        };
        match (self.error, value) {
            (Some(error), _) => Outcome::from(MetricError::failed(&self.metric, error)),
            (None, None) => invalid(&self.metric, &self.value),
            (None, Some(value)) => {
                let passed = self.passed.or(self.value.as_bool());
                scored(value, passed, self.reason, self.metadata)
            }
        }
    }
}

/// The rows of a file. A row may lack metrics of others.
#[derive(Default)]
pub(super) struct Table {
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
    /// The parameters of metrics.
    pub(super) parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// The metrics whose lower scores are better.
    pub(super) lower_is_better: Vec<String>,
    /// The names of scores that are not the first of their metric in a row.
    pub(super) repeated: HashSet<String>,
    names: MetricNames,
    rows: IndexMap<String, ForeignRow>,
    failed: Vec<(usize, String)>,
}

impl Table {
    /// Adds a row.
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
            let mut name = self.names.name(&score.metric, None);
            let mut number = 2;
            while attempt.outcomes.contains_key(&name) {
                name = self.names.name(&score.metric, Some(&number.to_string()));
                number += 1;
                self.repeated.insert(name.clone());
            }
            let mut spec = MetricSpec::new(&score.metric);
            if self.lower_is_better.contains(&score.metric) {
                spec.direction = Direction::LowerIsBetter;
            }
            let parameters = self.parameters.get(&score.metric).cloned();
            self.run.metrics.entry(name.clone()).or_insert_with(|| {
                MetricIdentity::of_other_program(&spec, parameters.unwrap_or_default())
            });
            attempt.outcomes.insert(name, score.outcome());
        }
        if let Some(error) = row.error {
            self.failed.push((self.rows.len(), error));
        }
        let foreign = ForeignRow {
            id: row.id.clone(),
            is_positional: row.is_positional,
            gold: Value::Object(row.gold),
            attributes: row.attributes,
            attempts: vec![attempt],
        };
        let id = escape::name(&row.id).to_string();
        match self.rows.insert(row.id, foreign) {
            Some(_) => Err(input.whole(format_args!("duplicate row for id `{id}`; keep only one"))),
            None => Ok(()),
        }
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

    pub(super) fn finish(self, epochs: Epochs) -> Converted {
        let mut rows: Vec<ForeignRow> = self.rows.into_values().collect();
        for (row, error) in self.failed {
            let row = &mut rows[row];
            row.attributes.insert("error", error.clone());
            if epochs == Epochs::Repeats {
                let error = error.into();
                let failed = Outcome::ProgramFailed { error };
                let names = self.run.metrics.keys().cloned();
                row.attempts[0].outcomes = names.map(|name| (name, failed.clone())).collect();
                row.attempts[0].pred = None;
            }
        }
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

/// Returns the tokens of prompt and reply at these pointers.
pub(super) fn tokens(value: &Value, input: &str, output: &str) -> Option<[u64; 2]> {
    Some([at(value, input)?.as_u64()?, at(value, output)?.as_u64()?])
}
