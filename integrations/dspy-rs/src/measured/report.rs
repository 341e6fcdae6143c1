//! What the metric returned in the calls of dspy-rs: counts, means with their denominators, and failures.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use dsrs_metrics::Outcome;

/// The maximum number of failures that a report describes; the others are counted.
const MAX_FAILURES: usize = 100;

/// What a metric returned in the calls of dspy-rs, whose own result is a number and nothing else.
///
/// The headline has the mean with its denominator:
///
/// ```
/// use dspy_rs::Evaluator;
/// use dsrs_metrics::metrics::Em;
/// use dsrs_metrics_dspy_rs::WithMetric;
/// # struct Echo;
/// # impl dspy_rs::Module for Echo {
/// #     async fn forward(&self, inputs: dspy_rs::Example) -> anyhow::Result<dspy_rs::Prediction> {
/// #         Ok(dspy_rs::Prediction::from(vec![("answer".to_owned(), inputs.get("question", None))]))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let row = |question: &str, answer: Option<&str>| {
///     let answer = answer.map(|answer| ("answer".to_owned(), answer.into()));
///     let data = [("question".to_owned(), question.into())].into_iter().chain(answer).collect();
///     dspy_rs::Example::new(data, vec!["question".to_owned()], vec![])
/// };
/// let module = Echo.with_metric(Em::default());
/// assert_eq!(module.evaluate(vec![row("Paris", Some("Paris")), row("Rome", None)]).await, 0.5);
/// let report = module.report();
/// assert_eq!(report.to_string(), "em: 0.5000 (mean of 1/2 calls, 1 failed counted as 0; 1.0000 over the 1 scored)");
/// assert_eq!(
///     report.check().unwrap_err().to_string(),
///     "1 of 2 calls of `em` not scored, each counted as 0; the first: \
///      row 1: metric `em`: no field `gold.answer`; found `question`",
/// );
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MetricReport {
    /// The name of the metric.
    pub metric: String,
    /// The number that dspy-rs received for each failure.
    pub failure_score: f32,
    /// All calls.
    pub calls: Tally,
    /// The calls of each `evaluate`, in their order: one for each candidate of COPRO and MIPROv2.
    pub evaluations: Vec<Tally>,
    /// The first 100 failures.
    pub failures: Vec<Failure>,
}

/// Counts of outcomes. Scores are as dspy-rs received them: higher is better.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Calls with a score.
    pub scored: u64,
    /// Calls in which the metric failed.
    pub failed: u64,
    /// Calls in which the program had failed, so that there was nothing to score.
    pub program_failed: u64,
    /// Calls in which the metric abstained, was gated or had no budget left. A mean leaves them out; a single call of
    /// dspy-rs needs a number and receives that of a failure.
    pub unscored: u64,
    /// The sum of the scores.
    pub sum: f64,
    /// Scored calls whose prediction lacks a field that the metric reads, for each field.
    pub missing_fields: BTreeMap<String, u64>,
    /// Scored calls of a judge without a language model, which compares words.
    pub judged_offline: u64,
}

/// One call without a score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The row.
    pub row: RowName,
    /// The outcome in snake case: `metric_failed` or `program_failed`.
    pub outcome: &'static str,
    /// What is wrong.
    pub message: String,
}

/// How a row is named in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowName {
    /// The position of the row in the examples of an `evaluate`, starting at 0.
    Position(usize),
    /// The row's field `id`.
    Id(String),
    /// The start of the row's inputs: dspy-rs passes a row to a metric without its position.
    Inputs(String),
}

/// The error of [`MetricReport::check`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotScored {
    message: String,
}

impl fmt::Debug for NotScored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl MetricReport {
    pub(crate) fn new(metric: &str, failure_score: f32) -> Self {
        let metric = metric.to_owned();
        let (calls, evaluations, failures) = Default::default();
        Self {
            metric,
            failure_score,
            calls,
            evaluations,
            failures,
        }
    }

    /// Returns an error unless every call has a score, from a prediction that has the fields which the metric reads.
    ///
    /// # Errors
    /// The number of calls without a score, with the first failure; a field that no prediction has.
    pub fn check(&self) -> Result<(), NotScored> {
        let calls = &self.calls;
        let failed = calls.failed + calls.program_failed;
        if failed > 0 {
            let first = self
                .failures
                .first()
                .map(|first| format!("; the first: {first}"));
            return Err(NotScored {
                message: format!(
                    "{failed} of {} calls of `{}` not scored, each counted as {}{}",
                    calls.calls(),
                    self.metric,
                    self.failure_score,
                    first.unwrap_or_default(),
                ),
            });
        }
        let mut missing = calls.missing_fields.iter();
        match missing.find(|(_, count)| calls.scored > 0 && **count == calls.scored) {
            None => Ok(()),
            Some((field, _)) => Err(NotScored {
                message: format!(
                    "no prediction has the field `{field}`, which `{}` reads; rename the output, or map the field: \
                     `.map(\"pred.{field}=NAME\")`",
                    self.metric,
                ),
            }),
        }
    }

    /// Returns the headline of one evaluation.
    #[must_use]
    pub fn headline(&self, tally: &Tally) -> String {
        let mut line = format!("{}: ", self.metric);
        match tally.mean(self.failure_score) {
            Some(mean) => {
                line += &format!(
                    "{mean:.4} (mean of {}/{} calls",
                    tally.scored,
                    tally.calls()
                );
            }
            None => line += &format!("not enough rows (0/{} calls scored", tally.calls()),
        }
        line += &format!(", {} failed", tally.failed);
        if tally.program_failed > 0 {
            let programs = if tally.program_failed == 1 {
                "program"
            } else {
                "programs"
            };
            line += &format!(" and {} {programs} failed", tally.program_failed);
        }
        if tally.failed + tally.program_failed > 0 {
            line += &format!(" counted as {}", self.failure_score);
        }
        if tally.unscored > 0 {
            line += &format!(", {} abstained, gated or skipped", tally.unscored);
        }
        for (field, count) in &tally.missing_fields {
            line += &format!(", {count} without `{field}`");
        }
        if tally.failed + tally.program_failed > 0 && tally.scored > 0 {
            let mean = tally.sum / exact(tally.scored);
            line += &format!("; {mean:.4} over the {} scored", tally.scored);
        }
        if tally.judged_offline > 0 {
            line += "; judge: offline-lexical";
        }
        line + ")"
    }
}

/// The headline of all calls.
impl fmt::Display for MetricReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline(&self.calls))
    }
}

impl Tally {
    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.scored + self.failed + self.program_failed + self.unscored
    }

    /// Returns the mean score, in which each failure counts as `failure_score`. `None` if there is neither a score nor a
    /// failure.
    #[must_use]
    pub fn mean(&self, failure_score: f32) -> Option<f64> {
        let failures = self.failed + self.program_failed;
        let counted = self.scored + failures;
        let sum = self.sum + exact(failures) * f64::from(failure_score);
        (counted > 0).then(|| sum / exact(counted))
    }

    fn add(&mut self, outcome: &Outcome, score: Option<f64>) {
        match outcome {
            Outcome::Scored(scored) => {
                self.scored += 1;
                self.sum += score.unwrap_or_default();
                self.judged_offline += u64::from(scored.is_judged_offline());
                for field in scored.missing_fields() {
                    *self.missing_fields.entry(field.to_owned()).or_default() += 1;
                }
            }
            Outcome::ProgramFailed { .. } => self.program_failed += 1,
            Outcome::MetricFailed { .. } | Outcome::Counted(_) => self.failed += 1,
            Outcome::Abstained
            | Outcome::Gated { .. }
            | Outcome::Skipped { .. }
            | Outcome::NotNeeded
            | Outcome::NotSampled { .. } => {
                self.unscored += 1;
            }
        }
    }
}

/// Counts of calls are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
const fn exact(count: u64) -> f64 {
    count as f64
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.row, self.message)
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => write!(f, "row {position}"),
            Self::Id(id) => write!(f, "row `{}`", id.escape_debug()),
            Self::Inputs(inputs) => write!(f, "row with {inputs}"),
        }
    }
}

/// A report that calls add to.
#[derive(Debug)]
pub(crate) struct Log(Mutex<MetricReport>);

impl Log {
    pub(crate) fn new(metric: &str, failure_score: f32) -> Self {
        Self(Mutex::new(MetricReport::new(metric, failure_score)))
    }

    /// Runs a function on the report. A panic while it was locked leaves counts that are valid.
    pub(crate) fn with<R>(&self, read: impl FnOnce(&mut MetricReport) -> R) -> R {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds one call. `score` is that which dspy-rs receives.
    pub(crate) fn add(&self, row: impl FnOnce() -> RowName, outcome: &Outcome, score: Option<f64>) {
        self.with(|report| {
            report.calls.add(outcome, score);
            let message = outcome.error();
            if let Some(message) = message.filter(|_| report.failures.len() < MAX_FAILURES) {
                let row = row();
                report.failures.push(Failure {
                    row,
                    outcome: outcome.name(),
                    message,
                });
            }
        });
    }

    /// Adds the calls of one `evaluate`, which are also added one by one.
    pub(crate) fn add_evaluation<'a>(
        &self,
        calls: impl Iterator<Item = (&'a Outcome, Option<f64>)>,
    ) -> Option<f64> {
        let mut tally = Tally::default();
        calls.for_each(|(outcome, score)| tally.add(outcome, score));
        self.with(|report| {
            let mean = tally.mean(report.failure_score);
            report.evaluations.push(tally);
            mean
        })
    }
}
