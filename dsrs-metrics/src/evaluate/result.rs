//! What an evaluation gives.

use std::fmt;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::error::EvaluateError;
use super::row::RowResult;
use super::summary::MetricSummary;
use crate::core::rows::dynamic::{Example, Prediction};

/// What an evaluation gives: the score, the rows, and what each metric says over all of them.
///
/// `Display` is the headline of every metric with its denominators, `Debug` names the score and
/// counts the rows; neither prints rows.
#[derive(Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct EvaluationResult<G = Example, P = Prediction> {
    /// The first metric's headline: the percentage of true in [0, 100], or the mean. `None` if no
    /// row was scored.
    pub score: Option<f64>,
    /// The rows in input order, whatever the order in which they finished; empty if
    /// `keep_results(false)`.
    pub results: Vec<RowResult<G, P>>,
    /// What each metric says over all rows, each followed by its named parts, if it has any.
    pub metrics: Vec<MetricSummary>,
    /// How many rows were finished.
    pub rows: u64,
    /// How many of them have a failure, of the program or of any metric.
    pub failed_rows: u64,
    /// Where the first of them (in input order) stands, and why it failed.
    pub first_error: Option<String>,
    /// Whether these are all rows, and if not, why.
    pub ending: Ending,
    /// How long it took.
    pub elapsed: Duration,
    pub(super) names: Vec<String>,
    /// The fields that the metrics read, first metric first.
    pub(crate) reads: Vec<String>,
}

/// Why an evaluation ended. In every case the result holds all rows that were finished.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// All rows were scored, and all result files written.
    Complete,
    /// So many rows failed that no more were taken.
    MaxErrors,
    /// It was asked to stop: by Ctrl-C, or by `stop_when`.
    Stopped,
    /// A result file could not be written although it could be created.
    OutputFailed(EvaluateError),
}

impl Ending {
    /// The ending in snake case, as it stands in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::MaxErrors => "max_errors",
            Self::Stopped => "stopped",
            Self::OutputFailed(_) => "output_failed",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::MaxErrors => f.write_str("incomplete: too many rows failed"),
            Self::Stopped => f.write_str("incomplete: asked to stop"),
            Self::OutputFailed(error) => error.fmt(f),
        }
    }
}

impl<G, P> EvaluationResult<G, P> {
    /// The summary of the metric, or of the named part, called `name`.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|summary| summary.name == name)
    }

    /// Whether every row was taken and every file written.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// The metrics' names, in the order of [`RowResult::outcomes`].
    pub fn metric_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The score, or why there is none.
    ///
    /// # Errors
    /// [`EvaluateError::NothingScored`] with the first row's reason: an average over nothing is no 0.
    pub fn try_score(&self) -> Result<f64, EvaluateError> {
        self.score.ok_or_else(|| EvaluateError::NothingScored {
            metric: self.names.first().cloned().unwrap_or_default(),
            rows: self.rows,
            failed: self.failed_rows,
            first_error: self.first_error.clone(),
        })
    }
}

/// `{"rows": N, "metrics": {"NAME": {"score": .., "mean": .., ..}}, "ending": .., "elapsed_s": ..}`,
/// floats unrounded, without the rows; the ending is `complete`, `max_errors`, `stopped` or
/// `output_failed`. All but `elapsed_s` is the same at any concurrency, except where `max_errors`, a
/// stop or a timeout ends a run or a row early.
impl<G, P> Serialize for EvaluationResult<G, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("EvaluationResult", 4)?;
        report.serialize_field("rows", &self.rows)?;
        report.serialize_field("metrics", &ByName(&self.metrics))?;
        report.serialize_field("ending", self.ending.name())?;
        report.serialize_field("elapsed_s", &self.elapsed.as_secs_f64())?;
        report.end()
    }
}

struct ByName<'a>(&'a [MetricSummary]);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|summary| (&summary.name, summary)))
    }
}

impl<G, P> fmt::Display for EvaluationResult<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.metrics.iter().map(|summary| summary.name.chars().count());
        let width = width.max().unwrap_or(0);
        for (position, summary) in self.metrics.iter().enumerate() {
            let line_break = if position == 0 { "" } else { "\n" };
            write!(f, "{line_break}{:width$}  {summary}", summary.name)?;
        }
        if !self.is_complete() {
            write!(f, "\nafter {} rows: {}", self.rows, self.ending)?;
        }
        Ok(())
    }
}

impl<G, P> fmt::Debug for EvaluationResult<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvaluationResult")
            .field("score", &self.score)
            .field("rows", &self.rows)
            .field("failed_rows", &self.failed_rows)
            .field("ending", &self.ending)
            .field("results", &format_args!("<{} rows>", self.results.len()))
            .finish_non_exhaustive()
    }
}
