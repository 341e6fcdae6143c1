//! [`RunScores`]: the outcomes and values of a run, in columns.
//!
//! The file is long because the columns of a run are filled and read by the same rules.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::error::ResultsError;
use super::file::Results;
use super::run::{CORPUS, RowIndex, Run, entry};
use crate::contract::{Counted, ScoreKind};
use crate::data::NamedFile;
use crate::evaluate::manifest::Manifest;
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};
use crate::json;
use crate::messages::{escape, suggest};

/// The scores of a run, for use in a comparison.
///
/// This type contains only the ids, outcomes and values that a comparison needs. It is returned by
/// [`ComparisonBuilder::read`](super::ComparisonBuilder::read).
#[derive(Debug, Clone)]
pub struct RunScores {
    pub(super) run: Run,
    pub(super) rows: RowIndex,
    scores: IndexMap<String, Vec<Score>>,
    /// The requested parts of metrics, by name, such as `f1.precision`.
    parts: IndexMap<String, Vec<Score>>,
    /// The contributions to scores over all rows, by metric.
    corpus: IndexMap<String, Vec<Option<Counted>>>,
    groups: Option<GroupColumn>,
    /// The usage of each row. This is empty if no row has any.
    usage: Vec<Usage>,
}

/// The time, tokens and costs of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) latency_s: Option<f64>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cost_msats: Option<u64>,
    /// The cost of all metrics.
    pub(super) metric_cost_msats: u64,
}

impl RunScores {
    /// Reads a result file, and calls a function with each row and its position. `shrink` is as in `read_lines`.
    pub(super) fn read(
        file: NamedFile<'_>,
        names: &IndexSet<String>,
        group: Option<&str>,
        shrink: impl Fn(&mut ResultRow) + Sync,
        mut each: impl FnMut(usize, &mut ResultRow),
    ) -> Result<Self, ResultsError> {
        let mut scores = Self::new(Run::new(String::new()), names, group);
        scores.run = Run::read(file, shrink, |row| {
            let place = scores.rows.len();
            scores.rows.add(row)?;
            scores.add(place, row);
            each(place, row);
            Ok(())
        })?;
        Ok(scores)
    }

    /// Returns the scores of rows in memory.
    pub(super) fn of(results: &Results, names: &IndexSet<String>, group: Option<&str>) -> Self {
        let mut scores = Self::new(results.run.clone(), names, group);
        scores.rows = results.index().clone();
        for (place, row) in results.rows().iter().enumerate() {
            scores.add(place, row);
        }
        scores
    }

    /// Creates empty columns. Every metric has a column; `names` can add parts of metrics.
    fn new(run: Run, names: &IndexSet<String>, group: Option<&str>) -> Self {
        let parts = names.iter().filter(|name| name.contains('.'));
        Self {
            run,
            rows: RowIndex::default(),
            scores: IndexMap::new(),
            parts: parts.map(|name| (name.clone(), <_>::default())).collect(),
            corpus: IndexMap::new(),
            groups: group.map(|field| GroupColumn {
                field: field.to_owned(),
                ..GroupColumn::default()
            }),
            usage: Vec::new(),
        }
    }

    /// Adds the values of the row at this position to the columns.
    fn add(&mut self, place: usize, row: &ResultRow) {
        let mut metric_cost_msats = 0_u64;
        for (metric, (name, score)) in row.scores.iter().enumerate() {
            metric_cost_msats = metric_cost_msats.saturating_add(score.cost_msats);
            if let Some(counted) = &score.corpus {
                let states = self.corpus.entry(name.clone()).or_default();
                set(states, place, Some(counted.clone()));
            }
            set(entry(&mut self.scores, metric, name), place, score.into());
        }
        for (name, part) in &mut self.parts {
            let selected = Selected::new(name);
            set(part, place, selected.score(row));
        }
        let usage = Usage {
            latency_s: row.latency_s,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            cost_msats: row.cost_msats,
            metric_cost_msats,
        };
        if usage != Usage::default() {
            set(&mut self.usage, place, usage);
        }
        if let Some(groups) = &mut self.groups {
            groups.add(row);
        }
    }

    setters! {
        /// Sets the score that a failed row contributes to a mean.
        ///
        /// The default is the failure score in the manifest, or 0 if there is no manifest.
        pub fn with_failure_score(score: f64) => run.failure_score = score;
    }

    /// Returns the names of the metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.run.metrics()
    }

    /// Returns the run's manifest, if it is known.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.run.manifest()
    }

    /// Returns the number of rows.
    #[doc(hidden)]
    pub fn row_count(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Returns a function that maps a row to its result for a metric or part.
    pub(super) fn scores_of(&self, name: &str) -> impl Fn(usize) -> Score {
        let column = self.parts.get(name).or_else(|| self.scores.get(name));
        move |row| {
            column
                .and_then(|it| it.get(row))
                .copied()
                .unwrap_or_default()
        }
    }

    /// Returns the results of a metric or part for all rows.
    pub(super) fn column(&self, name: &str) -> impl Iterator<Item = Score> {
        (0..self.rows.len()).map(self.scores_of(name))
    }

    /// Returns a row's contribution to a score over all rows.
    pub(super) fn corpus(&self, metric: &str, row: usize) -> Option<&Counted> {
        self.corpus.get(metric)?.get(row)?.as_ref()
    }

    /// Returns the group of a row.
    pub(super) fn group(&self, row: usize) -> Option<&str> {
        let names = &self.groups.as_ref()?.names;
        names.get_index(self.group_number(row)?).map(String::as_str)
    }

    /// Returns the number of a row's group.
    pub(super) fn group_number(&self, row: usize) -> Option<usize> {
        *self.groups.as_ref()?.of_row.get(row)?
    }

    /// Checks that at least one row in any of the runs has the field to group by.
    pub(super) fn check_group<'r>(
        runs: impl IntoIterator<Item = &'r Self>,
        field: &str,
    ) -> Result<(), ResultsError> {
        let groups: Vec<_> = runs
            .into_iter()
            .filter_map(|run| run.groups.as_ref())
            .collect();
        if groups.iter().any(|groups| !groups.names.is_empty()) {
            return Ok(());
        }
        let known: IndexSet<&String> = groups.iter().flat_map(|groups| &groups.known).collect();
        let hint = suggest::known_names(field, known.into_iter().map(String::as_str));
        let message = format!("no row has the field `{}`{hint}", escape::name(field));
        Err(ResultsError::setting("group", message))
    }

    pub(super) fn usage(&self, row: usize) -> Usage {
        self.usage.get(row).copied().unwrap_or_default()
    }
}

/// The groups of rows.
#[derive(Debug, Clone, Default)]
struct GroupColumn {
    field: String,
    names: IndexSet<String>,
    of_row: Vec<Option<usize>>,
    /// The attributes that have a value in any row.
    known: IndexSet<String>,
}

impl GroupColumn {
    fn add(&mut self, row: &ResultRow) {
        let group = row.field(&self.field).cloned().and_then(json::text);
        let group = group.map(|group| match self.names.get_index_of(&group) {
            Some(place) => place,
            None => self.names.insert_full(group).0,
        });
        self.of_row.push(group);
        if self.names.is_empty() {
            let attributes = row.attributes.iter().filter(|(_, it)| !it.is_null());
            let attributes = attributes.map(|(name, _)| name.to_owned());
            self.known.extend(attributes);
            for (side, value) in [("gold", &row.gold), ("pred", &row.pred)] {
                let fields = value.iter().filter_map(Value::as_object).flatten();
                self.known
                    .extend(fields.map(|(name, _)| format!("{side}.{name}")));
            }
        }
    }
}

/// Sets the value of a row in a column that may still lack earlier rows.
fn set<T: Clone + Default>(column: &mut Vec<T>, row: usize, value: T) {
    column.resize(row, T::default());
    column.push(value);
}

/// A run's result for one row and one metric.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Score {
    /// The outcome, or `None` if the row does not have the metric.
    pub(super) outcome: Option<ResultOutcome>,
    /// The value, or 0 if there is no score.
    pub(super) value: f64,
    pub(super) passed: Option<bool>,
}

impl From<&ResultScore> for Score {
    fn from(score: &ResultScore) -> Self {
        let (value, passed) = (score.value.unwrap_or_default(), score.passed);
        Self {
            outcome: Some(score.outcome),
            value,
            passed,
        }
    }
}

impl Score {
    pub(super) fn of_part(value: f64) -> Self {
        Self {
            outcome: Some(ResultOutcome::Scored),
            value,
            passed: None,
        }
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.outcome == Some(ResultOutcome::Scored)).then_some(self.value)
    }

    /// Returns the value that counts towards the mean. This is the failure score if the row failed, and `None` if the
    /// row has no score for another reason.
    pub(super) fn counted(&self, failure_score: f64) -> Option<f64> {
        match self.is_failure() {
            true => Some(failure_score),
            false => self.value(),
        }
    }

    /// Returns `true` if the value is the verdict as a number.
    pub(super) fn is_verdict(&self) -> bool {
        self.passed
            .is_some_and(|passed| self.value == f64::from(u8::from(passed)))
    }

    /// Returns `true` if the metric or the program failed. Such a row counts as the failure score.
    pub(super) fn is_failure(&self) -> bool {
        self.outcome.is_some_and(ResultOutcome::is_failure)
    }

    /// Returns `true` if the row is outside of the metric's sample.
    pub(super) fn is_not_sampled(&self) -> bool {
        self.outcome == Some(ResultOutcome::NotSampled)
    }

    /// Returns the name of the outcome.
    pub(super) fn name(&self) -> &'static str {
        self.outcome.map_or("absent", ResultOutcome::name)
    }
}

/// A metric or, after a dot, one of its named scores or components.
#[derive(Clone, Copy)]
pub(super) struct Selected<'a> {
    pub(super) name: &'a str,
    pub(super) metric: &'a str,
    part: Option<&'a str>,
}

impl<'a> Selected<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        let (metric, part) = match name.split_once('.') {
            Some((metric, part)) => (metric, Some(part)),
            None => (name, None),
        };
        Self { name, metric, part }
    }

    pub(super) fn score(&self, row: &ResultRow) -> Score {
        let Some(score) = row.scores.get(self.metric) else {
            return Score::default();
        };
        let (Some(part), Some(_)) = (self.part, score.value) else {
            return score.into();
        };
        match (score.parts.get(part), score.components.get(part)) {
            (Some(value), _) => Score::of_part(*value),
            (None, Some(component)) => component.into(),
            (None, None) => Score::default(),
        }
    }

    /// Returns `true` if this is a score over all rows: that of a metric that does not score single rows, or
    /// `NAME.corpus`.
    pub(super) fn is_corpus(&self, a: &RunScores, b: &RunScores) -> bool {
        [a, b].iter().any(|RunScores { run, .. }| {
            let known = run.known(self.metric);
            match self.part {
                None => known.is_counted,
                Some(CORPUS) => known.has_corpus && !known.has_corpus_part,
                Some(_) => false,
            }
        })
    }

    /// Returns `true` if the run has the metric. A run without scored rows has no parts.
    pub(super) fn is_in(&self, scores: &RunScores) -> bool {
        let run = &scores.run;
        run.metrics().any(|metric| metric == self.metric)
            && self.part.is_none_or(|part| {
                part == CORPUS && run.known(self.metric).has_corpus
                    || scores
                        .column(self.name)
                        .any(|score| score.value().is_some())
                    || run.kind(self.metric).is_none()
            })
    }

    /// Returns the kind of the scores: pass or fail, or shares of repeats that pass. Returns `None` if no row is
    /// scored.
    pub(super) fn kind(&self, scores: &RunScores) -> Option<ScoreKind> {
        if self.part.is_none() {
            let known = scores.run.known(self.metric);
            return match known.is_pass_or_fail() {
                true => Some(ScoreKind::Bool),
                false => known.kind(),
            };
        }
        let column = scores.column(self.name);
        let mut scored = column.filter(|score| score.value().is_some()).peekable();
        scored.peek()?;
        Some(match scored.all(|score| score.is_verdict()) {
            true => ScoreKind::Bool,
            false => ScoreKind::Number,
        })
    }
}
