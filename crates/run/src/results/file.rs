//! [`Results`]: the rows of one result file, or of one evaluation in memory. Also writes rows scored by another program as
//! result files, such as the log of another harness.
//!
//! The file is long because each reader and field of results is documented with an example.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::Value;

use super::error::ResultsError;
use super::run::{RowIndex, Run};
use crate::contract::{Fields, MetricIdentity, Outcome, ProgramRun, ScoreKind};
use crate::data::NamedFile;
use crate::evaluate::manifest::{Manifest, RunCosts, RunManifest, StartedManifest, valid_text};
use crate::evaluate::report::{Format, Lines, ResultFiles, ResultRow, row_line};
use crate::evaluate::{EvaluateError, EvaluationResult, RowResult, reduced};

/// The rows of a single run.
///
/// The rows come from a result file or from an [`EvaluationResult`] in memory.
///
/// ```
/// use dsrs_metrics::results::Results;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-results-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("run.jsonl");
/// std::fs::write(&file, r#"{"id": "q1", "scores": {"f1": {"outcome": "scored", "value": 0.8}}}"#)?;
///
/// let results = Results::read(&file)?;
/// assert_eq!(results.metrics().collect::<Vec<_>>(), ["f1"]);
/// assert_eq!(results.row("q1").unwrap().scores["f1"].value, Some(0.8));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Results {
    pub(super) run: Run,
    rows: Vec<ResultRow>,
    index: RowIndex,
    /// The figures of each metric over all rows, for reports.
    pub(super) properties: HashMap<String, Vec<(String, String)>>,
}

impl Results {
    /// Reads the results of a run from a file.
    ///
    /// The extension selects the format: JSONL, JSON, CSV or Parquet, if the format's feature is enabled.
    ///
    /// The path `-` is standard input, which is read as JSONL.
    ///
    /// CSV files escape spreadsheet formulas with a leading apostrophe. This method removes the apostrophe.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] with the file and line if the file cannot be read, is not a result file, or does not
    /// match its manifest.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, ResultsError> {
        Self::read_shrunk(NamedFile::from(file.as_ref()), |_| ())
    }

    /// Reads results like [`read`](Self::read), but passes each row to a function that drops what the caller does not
    /// need.
    #[doc(hidden)]
    pub fn read_shrunk(
        file: NamedFile<'_>,
        shrink: impl Fn(&mut ResultRow) + Sync,
    ) -> Result<Self, ResultsError> {
        let mut results = Self::new(String::new());
        results.run = Run::read(file, shrink, |row| results.push(std::mem::take(row)))?;
        Ok(results)
    }

    #[doc(hidden)]
    pub fn index(&self) -> &RowIndex {
        &self.index
    }

    pub(crate) fn new(name: String) -> Self {
        Self {
            run: Run::new(name),
            rows: Vec::new(),
            index: RowIndex::default(),
            properties: HashMap::new(),
        }
    }

    pub(crate) fn add(&mut self, row: ResultRow) -> Result<(), ResultsError> {
        self.run.add(&row)?;
        self.push(row)
    }

    fn push(&mut self, row: ResultRow) -> Result<(), ResultsError> {
        self.index.add(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Returns only the selected rows, with the same manifest.
    pub(crate) fn only(&self, is_selected: impl Fn(&ResultRow) -> bool) -> Self {
        let mut selected = Self::new(String::new());
        selected.run = self.run.clone();
        for row in self.rows.iter().filter(|row| is_selected(row)) {
            // No two rows have the same id.
            drop(selected.push(row.clone()));
        }
        selected
    }

    /// Returns these results with the scores and metrics of other results over the same rows.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if there are too many metrics.
    pub(crate) fn rescored(&self, new: &Self) -> Result<Self, ResultsError> {
        let mut all = Self::new(self.name().to_owned());
        for row in &self.rows {
            let scores = new.row(&row.id).map(|new| new.scores.clone());
            let mut row = row.clone();
            row.scores.extend(scores.into_iter().flatten());
            all.add(row)?;
        }
        if let Some(mut manifest) = self.manifest().cloned() {
            let metrics = new.manifest().map(|new| new.run.metrics.clone());
            manifest.run.metrics.extend(metrics.into_iter().flatten());
            all.set_manifest(manifest);
        }
        Ok(all)
    }

    /// Adds a named property to a metric.
    ///
    /// Reports show this property.
    #[doc(hidden)]
    pub fn add_property(&mut self, metric: &str, name: &str, value: String) {
        let properties = self.properties.entry(metric.to_owned()).or_default();
        properties.push((name.to_owned(), value));
    }

    /// Sets the manifest of the run.
    pub(crate) fn set_manifest(&mut self, manifest: Manifest) {
        self.run.set_manifest(Ok(Box::new(manifest)));
    }

    setters! {
        /// Sets the name to show instead of the path of the file.
        pub fn with_name(name: impl Into<String>) => run.name = name.into();

        /// Sets the score that a failed row contributes to a mean.
        ///
        /// The default is the failure score in the manifest, or 0 if there is no manifest.
        pub fn with_failure_score(score: f64) => run.failure_score = score;
    }

    /// Returns the name of the run.
    ///
    /// By default, this is the path of the file, or `evaluation` for results in memory.
    pub fn name(&self) -> &str {
        self.run.name()
    }

    /// Returns the run's manifest, which records what the run measured.
    ///
    /// Returns `None` if it is unknown what the run measured. See [`unknown_identity`](Self::unknown_identity).
    pub fn manifest(&self) -> Option<&Manifest> {
        self.run.manifest()
    }

    /// Returns why the run's identity is unknown, or `None` if it is known.
    ///
    /// For example, the reason can be `it has no manifest`.
    pub fn unknown_identity(&self) -> Option<&str> {
        self.run.unknown_identity()
    }

    /// Returns the rows in file order.
    pub fn rows(&self) -> &[ResultRow] {
        &self.rows
    }

    /// Returns the row with this id.
    pub fn row(&self, id: &str) -> Option<&ResultRow> {
        self.index.find(id).map(|row| &self.rows[row])
    }

    /// Returns the names of the metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.run.metrics()
    }

    /// Returns the kind of a metric's scores.
    ///
    /// Scores are either verdicts or numbers. Returns `None` if no row has a score.
    ///
    /// Files do not record the kind, so it is inferred from the scores. The scores are pass or fail if every value is
    /// either 1 with `passed: true` or 0 with `passed: false`.
    pub fn kind(&self, metric: &str) -> Option<ScoreKind> {
        self.run.kind(metric)
    }

    /// Returns the score that a failed row contributes to a mean.
    pub fn failure_score(&self) -> f64 {
        self.run.failure_score
    }

    /// Creates results from an evaluation in memory.
    ///
    /// The results are the same as if they were read from a file with gold rows and predictions.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the evaluation kept no rows, or if two rows have the same id.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::results::Results;
    /// use dsrs_metrics::{Evaluate, rows::Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
    /// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
    ///
    /// let results = Results::of(&result)?;
    /// assert_eq!(results.row("q1").unwrap().scores["same"].passed, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of<G: Serialize, P: Serialize>(
        result: &EvaluationResult<G, P>,
    ) -> Result<Self, ResultsError> {
        let names: Vec<String> = result.metric_names().map(str::to_owned).collect();
        let mut results = Self::new("evaluation".to_owned());
        results.run.set_manifest(Ok(result.manifest.clone()));
        results.run.failure_score = result.failure_score();
        for row in &result.results {
            results.add(ResultRow::of(row, &names))?;
        }
        results.add_figures(result);
        match results.rows.is_empty() {
            true => Err(ResultsError::read(
                "the evaluation has no rows; do not set `keep_results(false)`",
            )),
            false => Ok(results),
        }
    }

    /// Creates results that contain an evaluation's statistics but not its rows.
    #[cfg(feature = "junit")]
    #[doc(hidden)]
    pub fn figures_of<G, P>(result: &EvaluationResult<G, P>) -> Self {
        let mut results = Self::new("evaluation".to_owned());
        results.add_figures(result);
        results
    }

    fn add_figures<G, P>(&mut self, result: &EvaluationResult<G, P>) {
        for name in result.metric_names() {
            let Some(summary) = result.metric(name) else {
                continue;
            };
            if let Some(score) = summary.score {
                self.add_property(name, "score", score.to_string());
            }
            if let Some(interval) = summary.uncertainty.ci95() {
                self.add_property(name, "ci95_low", interval.low.to_string());
                self.add_property(name, "ci95_high", interval.high.to_string());
            }
            if summary.kind == ScoreKind::Number {
                self.run.set_number(name);
            }
        }
    }
}

/// A row scored by another program.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ForeignRow {
    /// The row's id, unique within the file.
    pub id: String,
    /// `true` if the row has no id. In that case, `id` is the row's number in the file.
    pub is_positional: bool,
    /// The gold row.
    pub gold: Value,
    /// Additional fields of the row.
    pub attributes: Fields,
    /// The evaluations of the row.
    ///
    /// There is one evaluation for each repeat.
    pub attempts: Vec<RowAttempt>,
}

/// A single evaluation of a row by another program.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct RowAttempt {
    /// The prediction.
    ///
    /// This is `None` if the program failed.
    pub pred: Option<Value>,
    /// The latency and tokens of the program.
    pub run: ProgramRun,
    /// The outcome of each metric, by name.
    pub outcomes: IndexMap<String, Outcome>,
}

/// Describes a run made by another program.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ForeignRun {
    /// The name of the program that was measured.
    pub label: Option<String>,
    /// Additional properties of the program and its evaluation.
    pub tags: BTreeMap<String, String>,
    /// The identities of the metrics.
    pub metrics: IndexMap<String, MetricIdentity>,
    /// The number of times each row was evaluated.
    pub repeats: Option<u32>,
    /// `true` if the run ended early.
    pub is_partial: bool,
}

/// Writes a JSON Lines result file and its manifest.
///
/// If a row has several evaluations, its score is their mean. Failed evaluations count as 0.
///
/// # Errors
/// Returns an [`EvaluateError`] if either file cannot be written.
#[doc(hidden)]
pub fn write_foreign_rows(
    out: &Path,
    rows: Vec<ForeignRow>,
    run: ForeignRun,
) -> Result<(), EvaluateError> {
    let targets: [(Format, PathBuf); 1] = [(Format::JsonLines, out.to_owned())];
    let mut files = ResultFiles::create(&targets, false)?.ok_or_else(EvaluateError::no_rows)?;
    let started = StartedManifest::new(RunManifest::default(), false, None);
    let (mut lines, mut failed_rows) = (Lines::default(), 0);
    let count = rows.len() as u64;
    for (number, row) in (0..).zip(rows) {
        let (row, names) = result(row);
        failed_rows += u64::from(row.is_failure());
        lines.push(number, |line| row_line(&row, &names, true, line));
        files.write(&mut lines)?;
    }
    let tag = |(name, value): (String, String)| {
        let value = valid_text(&value).unwrap_or_default();
        Some((valid_text(&name)?, value))
    };
    let ending = if run.is_partial {
        "stopped"
    } else {
        "complete"
    };
    let run = RunManifest {
        label: run.label.and_then(|label| valid_text(&label)),
        tags: run.tags.into_iter().filter_map(tag).collect(),
        metrics: run.metrics,
        repeats: run.repeats,
        rows: count,
        failed_rows,
        ending: ending.to_owned(),
        ..RunManifest::default()
    };
    // The duration of the other program is not known.
    files.finish(&started.finish(run, &RunCosts::default(), Duration::ZERO))
}

/// Converts the row to the form that it has in a run of this library. Also returns the names of its metrics.
fn result(foreign: ForeignRow) -> (RowResult<Value, Value>, Vec<String>) {
    let attempts = foreign.attempts;
    let names = attempts.iter().flat_map(|attempt| attempt.outcomes.keys());
    let names: IndexSet<String> = names.cloned().collect();
    let names: Vec<String> = names.into_iter().collect();
    let has_repeats = attempts.len() > 1;
    let mut row = RowResult::of_parts(foreign.id, Arc::new(foreign.gold), foreign.attributes);
    row.is_positional = foreign.is_positional;
    for mut attempt in attempts {
        let run = (attempt.run.latency.is_some() || attempt.run.usage.is_some())
            .then(|| Box::new(attempt.run));
        // An evaluation that lacks a metric has no score for it.
        let outcome = |name| {
            attempt
                .outcomes
                .swap_remove(name)
                .unwrap_or(Outcome::Abstained)
        };
        let outcomes = names.iter().map(outcome).collect();
        if has_repeats {
            row.push_repeat(attempt.pred, run, outcomes);
        } else {
            (row.pred, row.run, row.outcomes) = (attempt.pred, run, outcomes);
        }
    }
    if has_repeats {
        row.outcomes = reduced(&row.repeats, names.len(), 0.0);
    }
    (row, names)
}
