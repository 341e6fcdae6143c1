//! Builds rows with their scores, metric names and outcomes from scores that a different program computed.
//!
//! The file is long because the rows from all importers get their names and outcomes in one place.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::time::Duration;

use indexmap::map::Entry;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::text::{as_string, each_document};
use crate::contract::{
    Fields, MetricError, MetricIdentity, MetricScore, MetricSpec, Outcome, ProgramOutput,
    ProgramUsage, Scored,
};
use crate::data::{Format, ObjectRows};
use crate::json::found;
use crate::json::read::parse_literal;
use crate::messages::escape;
use crate::results::{ForeignRow, ForeignRun, RowAttempt};
use crate::{FormatError, Input};

/// How to import the epochs in an evaluation log.
///
/// An epoch is one pass over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// Imports a sample's epochs as repeats of one row.
    ///
    /// The row's score is the mean over its repeats.
    Repeats,
    /// Imports each epoch of a sample as a separate row.
    ///
    /// The rows can be scored again with other metrics.
    Rows,
}

/// A file's rows, what it says about their run, and notes on anything a reader might not expect.
pub(super) struct Converted {
    pub(super) rows: Vec<ForeignRow>,
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
}

/// A row of the file, with its scores.
#[derive(Default)]
pub(super) struct TableRow {
    id: String,
    /// `true` if the id is the row number.
    is_positional: bool,
    pub(super) gold: Map<String, Value>,
    pub(super) pred: Map<String, Value>,
    pub(super) attributes: Fields,
    pub(super) scores: Vec<Score>,
    pub(super) latency_s: Option<f64>,
    pub(super) tokens: Option<[u64; 2]>,
    /// The reason why the program has no prediction.
    pub(super) error: Option<String>,
}

/// A row's score, as the other program wrote it.
#[derive(Default)]
pub(super) struct Score {
    metric: String,
    /// The element that this score is for, if the metric's score has several elements.
    pub(super) element: Option<String>,
    value: Value,
    /// `true` if the metric has no score for the row but did not fail.
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
        let error = match (self.error, value, &self.value) {
            _ if self.is_abstained => return Outcome::Abstained,
            (Some(error), ..) => error,
            (None, Some(value), _) => {
                let passed = self.passed.or(self.value.as_bool());
                let mut score = MetricScore::new(value);
                score.details = self.reason;
                return Outcome::Scored(Scored::of_other_program(score, passed, self.metadata));
            }
            // `NaN` was read as null.
            (None, None, Value::Null) => {
                "the score is missing, null or NaN, not a number".to_owned()
            }
            (None, None, other) => format!("the score is {}, not a number", found(other)),
        };
        MetricError::failed(&self.metric, error).into()
    }
}

/// The rows of a file.
#[derive(Default)]
pub(super) struct Table {
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
    /// `true` if rows with the same id are evaluations of the same row.
    pub(super) has_repeats: bool,
    /// `true` if a row counts as a failure of a metric that it lacks but other rows have.
    pub(super) is_complete: bool,
    /// `true` if it is unknown what the metrics are.
    pub(super) is_unidentified: bool,
    /// Our name for each metric and each element of its score.
    metrics: IndexMap<(String, Option<String>), String>,
    /// The names of scores that are not the first score of their metric in a row.
    repeated: HashSet<String>,
    rows: IndexMap<String, ForeignRow>,
    /// Each error, with its row and evaluation.
    failed: Vec<(usize, usize, String)>,
}

impl Table {
    /// Adds a row, or an evaluation of the existing row with this id. If a row has several evaluations, each attribute
    /// becomes a list of its values.
    ///
    /// # Errors
    /// Returns an error if a different row has the same id.
    pub(super) fn add(&mut self, input: Input<'_>, row: TableRow) -> Result<(), FormatError> {
        let mut attempt = RowAttempt {
            pred: Some(Value::Object(row.pred)),
            ..RowAttempt::default()
        };
        let mut program = ProgramOutput::new(());
        if let Some(Ok(latency)) = row.latency_s.map(Duration::try_from_secs_f64) {
            program = program.with_latency(latency);
        }
        if let Some([input, replies]) = row.tokens {
            program = program.with_usage(ProgramUsage::new(input, replies));
        }
        attempt.run = program.into_parts().1;
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

    /// Adds a metric, and returns our name for it. The name is the metric's own name, followed by a colon and the
    /// element of its score if there is one. Commas and dots are replaced, because they separate names and parts on the
    /// command line.
    pub(super) fn declare(&mut self, metric: &str, element: Option<String>) -> String {
        let key = (metric.to_owned(), element);
        if let Some(name) = self.metrics.get(&key) {
            return name.clone();
        }
        let allowed = |found: char| match found {
            '.' | ',' | '=' => '_',
            found if found.is_whitespace() || found.is_control() => '_',
            found => found,
        };
        let element = key.1.iter().flat_map(|element| [":", element]);
        let name = std::iter::once(metric).chain(element).flat_map(str::chars);
        let mut name: String = name.map(allowed).collect();
        while name.is_empty() || self.metrics.values().any(|other| *other == name) {
            name.push('_');
        }
        self.metrics.insert(key, name.clone());
        name
    }

    /// Adds a note if the count in the file's header differs.
    pub(super) fn check(&mut self, what: &str, summary: Option<u64>, found: usize) -> bool {
        let other = summary.filter(|summary| *summary != found as u64);
        self.notes.extend(other.map(|summary| {
            format!("the summary counts {summary} {what}, but the rows have {found}; copy the file again")
        }));
        other.is_some()
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns our name for each metric and each element of its score.
    pub(super) fn metrics(&self) -> &IndexMap<(String, Option<String>), String> {
        &self.metrics
    }

    /// Sets the identity of each metric and element. Any other metric gets an identity without a version or parameters.
    pub(super) fn identify(&mut self, identity: impl Fn(&str, Option<&str>) -> MetricIdentity) {
        for ((metric, element), name) in &self.metrics {
            let identity = identity(metric, element.as_deref());
            self.run.metrics.insert(name.clone(), identity);
        }
    }

    /// Adds a note if a metric's mean in the file's summary differs. The mean is over the rows with a score; a row with
    /// several evaluations counts as their mean.
    pub(super) fn check_mean(&mut self, what: impl Display, summary: &Value, metric: &str) {
        let mean = |values: Vec<f64>| {
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let of_row = |row: &ForeignRow| {
            let outcomes = row.attempts.iter().filter_map(|it| it.outcomes.get(metric));
            mean(outcomes.filter_map(Outcome::value).collect())
        };
        let mean = mean(self.rows.values().filter_map(of_row).collect());
        if let Some((summary, mean)) = summary.as_f64().zip(mean)
            && (summary - mean).abs() > 1e-6
        {
            self.notes.push(format!(
                "the summary has {summary:.4} as {what}, but the rows have {mean:.4}; the file was changed or is incomplete"
            ));
        }
    }

    pub(super) fn finish(mut self, epochs: Epochs) -> Converted {
        if !self.is_unidentified && self.run.metrics.is_empty() {
            self.identify(|metric, _| {
                MetricIdentity::of_other_program(&MetricSpec::new(metric), BTreeMap::new())
            });
        }
        let mut rows: Vec<ForeignRow> = self.rows.into_values().collect();
        for (row, attempt, error) in self.failed {
            let row = &mut rows[row];
            row.attributes.insert("error", error.clone());
            if epochs == Epochs::Repeats {
                let error = error.into();
                let failed = Outcome::ProgramFailed { error };
                let names = self.metrics.values().cloned();
                let attempt = &mut row.attempts[attempt];
                attempt.outcomes = names.map(|name| (name, failed.clone())).collect();
                attempt.pred = None;
            }
        }
        if self.is_complete {
            complete(&mut rows, &self.repeated);
        }
        Converted {
            rows,
            run: self.run,
            notes: self.notes,
        }
    }
}

/// Adds a failure to each row that lacks a metric that other rows have, unless the metric is optional.
fn complete(rows: &mut [ForeignRow], optional: &HashSet<String>) {
    let attempts = rows.iter().flat_map(|row| &row.attempts);
    let names = attempts.flat_map(|attempt| attempt.outcomes.keys());
    let metrics: IndexSet<String> = names
        .filter(|name| !optional.contains(*name))
        .cloned()
        .collect();
    for attempt in rows.iter_mut().flat_map(|row| &mut row.attempts) {
        for name in &metrics {
            let missing = || {
                let reason = "the file has no score for this row, but has one for others";
                Outcome::from(MetricError::failed(name, reason))
            };
            attempt.outcomes.entry(name.clone()).or_insert_with(missing);
        }
    }
}

/// Compares ids. Numbers are compared by value and come before strings.
pub(super) fn by_id(a: &str, b: &str) -> Ordering {
    let key = |id| (str::parse::<u64>(id).map_err(drop), id);
    key(a).cmp(&key(b))
}

/// Returns the objects in a file: the items of a JSON list, JSON lines, or the rows of a CSV file.
pub(super) fn objects(input: Input<'_>) -> Result<Vec<Value>, FormatError> {
    if Format::of(input.file) == Some(Format::Csv) {
        let rows = ObjectRows::open(input.file, Some(Format::Csv)).map_err(FormatError::new)?;
        return rows
            .map(|row| {
                let row = row.map_err(FormatError::new)?;
                let cell = |key: &str| {
                    let value = row.find(key)?.into_owned();
                    // A cell that contains a list or an object is written in JSON or Python.
                    let literal = value.as_str().and_then(parse_literal);
                    Some((key.to_owned(), literal.unwrap_or(value)))
                };
                Ok(Value::Object(row.keys().filter_map(cell).collect()))
            })
            .collect();
    }
    let mut objects = Vec::new();
    each_document(input, |_, document| {
        match document {
            Value::Array(items) => objects.extend(items),
            object => objects.push(object),
        }
        Ok(())
    })?;
    match objects.iter().all(Value::is_object) {
        true => Ok(objects),
        false => Err(input.whole("expected objects").or_other()),
    }
}

/// Returns the first value at these JSON pointers that is not null or empty. The pointers are separated by spaces.
pub(super) fn at<'v>(value: &'v Value, pointers: &str) -> Option<&'v Value> {
    let mut found = pointers.split(' ').filter_map(|it| value.pointer(it));
    found.find(|it| !it.is_null() && *it != "")
}

/// Returns the string at these pointers, or any other value as JSON.
pub(super) fn text(value: &Value, pointers: &str) -> Option<String> {
    at(value, pointers).map(as_string)
}

/// Returns the string at these pointers, or any other value as JSON. Returns `None` if the result is empty.
pub(super) fn shown(value: &Value, pointers: &str) -> Option<String> {
    text(value, pointers).filter(|it| !["{}", "[]"].contains(&&**it))
}

/// Returns the items of a list, or nothing if the list is missing.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the fields with the values found at their pointers.
pub(super) fn pick<F: FromIterator<(String, Value)>>(value: &Value, fields: &[(&str, &str)]) -> F {
    let field =
        |(name, pointers): &(&str, &str)| Some(((*name).to_owned(), at(value, pointers)?.clone()));
    fields.iter().filter_map(field).collect()
}

/// Adds a field, unless its value is null.
pub(super) fn put(fields: &mut Map<String, Value>, name: &str, value: impl Into<Value>) {
    match value.into() {
        Value::Null => {}
        value => drop(fields.insert(name.to_owned(), value)),
    }
}

/// Returns the token counts of the prompt and the reply at these pointers.
pub(super) fn tokens(value: &Value, input: &str, output: &str) -> Option<[u64; 2]> {
    Some([at(value, input)?.as_u64()?, at(value, output)?.as_u64()?])
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn each_metric_has_a_name_of_its_own_without_characters_of_the_command_line() {
        let mut table = Table::default();
        let mut name =
            |metric: &str, element: Option<&str>| table.declare(metric, element.map(str::to_owned));
        assert_eq!(
            name("exact_match", Some("strict-match")),
            "exact_match:strict-match"
        );
        assert_eq!(name("a.b, c", None), "a_b__c");
        assert_eq!(name("a,b. c", None), "a_b__c_");
        assert_eq!(name("a.b, c", None), "a_b__c");
        assert_eq!(name("", None), "_");
    }
}
