//! The result of an evaluation.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use indexmap::IndexMap;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::metric_summary::MetricSummary;
use crate::contract::{Example, Outcome, Prediction, ProgramRun, ProgramUsage};
use crate::data::Mapping;
use crate::evaluate::error::{EvaluateError, EvaluateErrorKind};
use crate::evaluate::manifest::{EarlyResult, FORMAT, Manifest};
use crate::evaluate::row::{RowResult, StoreUse};
use crate::messages::escape;

/// The maximum number of named scores whose headlines are shown, per metric.
const SHOWN_PARTS: usize = 20;

/// The result of an evaluation, with its score, rows and metric summaries.
///
/// `Display` shows the headline of every metric and of its first 20 named scores, with intervals and denominators. If
/// every row failed, it also shows the first error.
///
/// `{:#}` adds a histogram for metrics whose scores are numbers in a finite range.
///
/// `Debug` shows only the score and the number of rows. Neither `Display` nor `Debug` prints the rows.
#[derive(Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct EvaluationResult<G = Example, P = Prediction> {
    /// The score of the first metric, in the metric's range.
    ///
    /// This is the mean over rows, or the corpus score. For a bool, the mean is the fraction of rows that are `true`,
    /// in [0, 1].
    ///
    /// This is `None` if no row has a score, or if every prediction lacks a field that the metric reads (see
    /// [`MetricSummary::unknown_fields`]).
    pub score: Option<f64>,
    /// The rows in input order.
    ///
    /// This is empty with `keep_results(false)`.
    pub results: Vec<RowResult<G, P>>,
    /// The summaries of the metrics.
    ///
    /// Each metric is followed by its named scores.
    pub metrics: Vec<MetricSummary>,
    /// The tokens, cost and latency of the program, over all rows.
    pub program: ProgramTotals,
    /// The number of finished rows.
    pub rows: u64,
    /// The number of rows on which the program or any metric failed.
    pub failed_rows: u64,
    /// The location and error of the first failed row, in input order.
    pub first_error: Option<String>,
    /// The reason the evaluation ended.
    pub ending: Ending,
    /// The duration of the run.
    pub elapsed: Duration,
    /// The message of the first observer that panicked, if any.
    ///
    /// An observer is not called again after it panics.
    pub observer_error: Option<String>,
    /// The number of rows without a value for the [`group`](crate::StatisticsSettings::group) field.
    ///
    /// Each of these rows forms its own group. The number is 0 if you don't group rows.
    pub without_group: u64,
    /// The gates that you set with [`when_decided`](crate::StopSettings::when_decided) and their verdicts, if any.
    pub early: Option<EarlyResult>,
    /// How many results the run paid for, and how many it reused from the store.
    ///
    /// This is `None` if the run has no store.
    pub store: Option<StoreUse>,
    /// The mappings for [`score_files`](crate::Evaluate::score_files) whose paths do not occur in any row.
    ///
    /// This is empty if the run ended before it read all rows.
    pub unused_mappings: Vec<Mapping>,
    /// Notes on the files passed to [`score_files`](crate::Evaluate::score_files).
    ///
    /// For example, a note can give the detected delimiter, or the number of rows that a join with gold rows leaves
    /// out.
    pub notes: Vec<String>,
    /// The manifest of the run.
    ///
    /// The manifest records the metrics' identities, the data files and the program.
    pub manifest: Box<Manifest>,
    /// The fields that the metrics read, first metric first.
    pub(crate) reads: Vec<String>,
}

/// The reason why an evaluation ended.
///
/// The result always contains all finished rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Ending {
    /// All rows were evaluated, and all result files were written.
    Complete,
    /// The number of failed rows reached `max_errors`.
    MaxErrors,
    /// The run was stopped by [`when`](crate::StopSettings::when) or by a signal such as Ctrl-C.
    Stopped,
    /// The gates set with [`when_decided`](crate::StopSettings::when_decided) were decided before all rows were
    /// evaluated.
    Decided,
    /// A result file was created but could not be written.
    OutputFailed(EvaluateError),
}

impl Ending {
    /// Returns the ending's name in snake case.
    ///
    /// Reports use this name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::MaxErrors => "max_errors",
            Self::Stopped => "stopped",
            Self::Decided => "decided",
            Self::OutputFailed(_) => "output_failed",
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::MaxErrors => f.write_str("incomplete: too many rows failed"),
            Self::Stopped => f.write_str("incomplete: stopped on request"),
            Self::Decided => f.write_str("the gates are decided"),
            Self::OutputFailed(error) => error.fmt(f),
        }
    }
}

impl<G, P> EvaluationResult<G, P> {
    /// Returns the summary of the metric or named score with this name.
    pub fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|summary| summary.name == name)
    }

    /// Returns the [`score`](Self::score) times 100, unrounded.
    ///
    /// DSPy reports the score in this form.
    pub fn percent(&self) -> Option<f64> {
        self.score.map(|score| 100.0 * score)
    }

    /// Returns each row as an `(example, prediction, score)` triple.
    ///
    /// The score is that of the first metric, as in DSPy. A failed row has the failure score, and it has no prediction
    /// if the program failed. A gated, skipped or abstained row has no score.
    ///
    /// If you set `keep_results(false)`, the iterator is empty.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::Evaluate;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
    /// let result = Evaluate::builder()
    ///     .devset([example! { "question" => "2 + 2?", "answer" => "4" }, example! { "answer" => "5" }])
    ///     .inputs(["question"])
    ///     .metric(metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer")))
    ///     .failures(|failures| failures.score(-1.0))
    ///     .run(|_: Example| async { prediction! { "answer" => "4" } })
    ///     .await?;
    /// let scores: Vec<_> = result.triples().map(|(_, pred, score)| (pred.is_some(), score)).collect();
    /// assert_eq!(scores, [(true, Some(1.0)), (false, Some(-1.0))]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn triples(&self) -> impl ExactSizeIterator<Item = (&G, Option<&P>, Option<f64>)> {
        self.results.iter().map(|row| {
            let failed = row.outcomes.first().is_some_and(Outcome::is_failure);
            let score = row
                .score()
                .or_else(|| failed.then_some(self.failure_score()));
            (&*row.gold, row.pred.as_ref(), score)
        })
    }

    /// Returns the score that a failed row contributes to a mean.
    pub fn failure_score(&self) -> f64 {
        self.manifest.run.failure_score
    }

    /// Returns `true` if every row was evaluated and every result file was written.
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Complete
    }

    /// Returns the metrics' names, in the order of [`RowResult::outcomes`].
    pub fn metric_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.manifest.run.metrics.keys().map(String::as_str)
    }

    /// Returns the score, or an error that explains why there is none.
    ///
    /// # Errors
    /// Returns a [`NothingScored`](EvaluateErrorKind::NothingScored) error if no row has a score, or if every
    /// prediction lacks a field that the metric reads.
    ///
    /// If no row has a score, the error includes the first failed row's error.
    pub fn try_score(&self) -> Result<f64, EvaluateError> {
        let nothing_scored =
            |message| EvaluateError::new(EvaluateErrorKind::NothingScored, message);
        let metric = self.metric_names().next().unwrap_or_default();
        let first = self.metrics.first();
        if let Some(field) = first.and_then(|summary| summary.unknown_fields.first()) {
            return Err(nothing_scored(format!("metric `{metric}`: {field}")));
        }
        self.score.ok_or_else(|| {
            let first = self.first_error.as_ref();
            let first = first.map_or(String::new(), |error| format!(", first error: {error}"));
            nothing_scored(format!(
                "not enough rows: none of {} has a score for `{metric}` ({} failed{first})",
                self.rows, self.failed_rows
            ))
        })
    }
}

/// Writes
/// `{"format": 1, "rows": N, "metrics": {"NAME": {"score": .., "mean": .., ..}}, "ending": .., "elapsed_s": ..}`,
/// without the rows. Floats are unrounded, each in the range of its metric. `program` follows `metrics` if the program
/// returned usage or latency. `early` follows if the run may end once its gates are decided. The ending is `complete`,
/// `max_errors`, `stopped`, `decided` or `output_failed`. Everything but `elapsed_s` is the same at any concurrency,
/// unless `max_errors`, a stop or a timeout ends a run or a row early.
impl<G, P> Serialize for EvaluationResult<G, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut report = serializer.serialize_struct("EvaluationResult", 7)?;
        report.serialize_field("format", &FORMAT)?;
        report.serialize_field("rows", &self.rows)?;
        let metrics = self.metrics.iter();
        let metrics: IndexMap<_, _> = metrics.map(|summary| (&summary.name, summary)).collect();
        report.serialize_field("metrics", &metrics)?;
        if self.program.is_reported() {
            report.serialize_field("program", &self.program)?;
        }
        if let Some(early) = &self.early {
            report.serialize_field("early", early)?;
        }
        report.serialize_field("ending", self.ending.name())?;
        report.serialize_field("elapsed_s", &self.elapsed.as_secs_f64())?;
        report.end()
    }
}

impl<G, P> EvaluationResult<G, P> {
    /// Returns one line per headline. Each metric's headline is followed by those of its first named scores.
    ///
    /// Further named scores are counted but not listed. If the run ended early, the last line says why. Score names come
    /// from rows, so they are escaped and shortened.
    #[doc(hidden)]
    pub fn headlines(&self, has_histograms: bool) -> String {
        let mut named = Vec::new();
        for metric in self
            .metrics
            .chunk_by(|_, next| !self.manifest.run.metrics.contains_key(&next.name))
        {
            let (first, others) = metric.split_at(metric.len().min(1 + SHOWN_PARTS));
            for summary in first {
                named.push((escape::name(&summary.name), summary.to_string()));
                if let Some(histogram) = summary.histogram.as_ref().filter(|_| has_histograms) {
                    // `0 ▄     █           ▂▂ 1`, with the ends of the range.
                    let (min, max) = histogram.range();
                    named.push((Cow::Borrowed(""), format!("{min} {histogram} {max}")));
                }
            }
            if !others.is_empty() {
                let all = Cow::Owned(format!("{}.*", metric[0].name));
                named.push((all, format!("{} more named scores", others.len())));
            }
        }
        let width = named.iter().map(|(name, _)| name.chars().count()).max();
        let width = width.unwrap_or(0);
        let lines = named
            .iter()
            .map(|(name, it)| format!("{name:width$}  {it}"));
        let end = match &self.early {
            _ if self.is_complete() => None,
            Some(early) if self.ending == Ending::Decided => Some(early.sentence()),
            _ => Some(format!("after {} rows: {}", self.rows, self.ending)),
        };
        Vec::from_iter(lines.chain(end)).join("\n")
    }
}

impl<G, P> fmt::Display for EvaluationResult<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headlines(f.alternate()))?;
        match &self.first_error {
            Some(error) if self.failed_rows == self.rows => {
                write!(f, "\nfirst error: {}", escape::escaped(error))
            }
            _ => Ok(()),
        }
    }
}

debug_fields!(EvaluationResult<G, P>: |it|
    "score" => it.score, "rows" => it.rows, "failed_rows" => it.failed_rows, "ending" => it.ending,
    "results" => format_args!("<{} rows>", it.results.len()));

/// A program's tokens, cost and latency, summed over the rows of an evaluation.
///
/// Rows on which the program failed are not included, because a failed program returns none of these values.
///
/// The totals serialize as `{"latency_s": .., "latency_rows": N, "input_tokens": .., "output_tokens": .., "cost_msats":
/// .., "usage_rows": N}`.
///
/// The JSON includes only latencies that the program itself returned, because measured latencies differ from run to
/// run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramTotals {
    /// The total usage over all rows.
    ///
    /// This is `None` if the program returned no usage. The cost is `None` if the cost of any row is unknown.
    pub usage: Option<ProgramUsage>,
    /// The number of rows whose usage is known.
    pub usage_rows: u64,
    /// The total latency over all rows, either measured or returned by the program.
    ///
    /// Rows run concurrently, so this is not the duration of the evaluation.
    ///
    /// This field is `None` if no program was run.
    pub latency: Option<Duration>,
    /// The number of rows whose latency is known.
    pub latency_rows: u64,
    returned_latency: Option<Duration>,
    returned_rows: u64,
}

impl ProgramTotals {
    /// Returns the mean latency per row, in seconds.
    pub fn mean_latency_s(&self) -> Option<f64> {
        Some(self.latency?.as_secs_f64() / self.latency_rows as f64)
    }

    pub(crate) fn add(&mut self, run: &ProgramRun) {
        if let Some(usage) = run.usage {
            *self.usage.get_or_insert_default() += usage;
            self.usage_rows += 1;
        }
        let sum = |sum: &mut Option<Duration>, rows: &mut u64, latency: Option<Duration>| {
            if let Some(latency) = latency {
                *sum = Some(sum.unwrap_or_default().saturating_add(latency));
                *rows += 1;
            }
        };
        sum(&mut self.latency, &mut self.latency_rows, run.latency);
        sum(
            &mut self.returned_latency,
            &mut self.returned_rows,
            run.returned_latency(),
        );
    }

    /// Returns `true` if the program returned usage or latency.
    pub(crate) fn is_reported(&self) -> bool {
        self.usage.is_some() || self.returned_latency.is_some()
    }
}

impl Serialize for ProgramTotals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut totals = serializer.serialize_struct("ProgramTotals", 6)?;
        if let Some(latency) = self.returned_latency {
            totals.serialize_field("latency_s", &latency.as_secs_f64())?;
            totals.serialize_field("latency_rows", &self.returned_rows)?;
        }
        if let Some(usage) = self.usage {
            totals.serialize_field("input_tokens", &usage.input_tokens)?;
            totals.serialize_field("output_tokens", &usage.output_tokens)?;
            totals.serialize_field("cost_msats", &usage.cost_msats)?;
            totals.serialize_field("usage_rows", &self.usage_rows)?;
        }
        totals.end()
    }
}
