//! Errors in the setup or run of a scorer. A row without a score is not such an error: it is counted.

use super::aggregate::AggregationError;
use super::row::RowScore;
use crate::core::declared::requirements::NotReady;
use crate::core::rows::inputs::InputError;
use crate::core::spec::{MetricTier, ScoreRange};
use crate::evaluate::EvaluateError;

/// An error in the setup of a [`Scorer`](super::Scorer), or one that leaves it without a result.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScorerError {
    /// There is no metric.
    #[error("expected at least one metric, found none; add one with `.metric(..)`")]
    NoMetric,
    /// Two metrics have the same name.
    #[error("duplicate metric name `{name}`; rename one with `#[metric(name = \"..\")]`")]
    DuplicateMetric {
        /// The name.
        name: String,
    },
    /// A metric was added to the tier that it does not belong to.
    #[error("{}", wrong_tier(metric, *tier))]
    WrongTier {
        /// The metric.
        metric: String,
        /// The tier of its spec.
        tier: MetricTier,
    },
    /// A metric has no range, so it cannot be averaged with others.
    #[error(
        "`{metric}` declares no range, which is required to average it with other metrics; \
         declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
    )]
    NoRange {
        /// The metric.
        metric: String,
    },
    /// A metric scores all rows together, so it cannot rank or gate single rows.
    #[error("`{metric}` scores all rows together and no single row; run it with `Evaluate`")]
    CorpusMetric {
        /// The metric.
        metric: String,
    },
    /// The range is empty, a single value, or infinitely wide.
    #[error(
        "the range {range} of `{metric}` cannot be normalized to [0, 1]; declare one of finite width \
         above 0"
    )]
    UnusableRange {
        /// The metric.
        metric: String,
        /// The range.
        range: ScoreRange,
    },
    /// The threshold of the gate is outside [0, 1].
    #[error("`threshold` must be between 0 and 1, found {threshold:?}")]
    Threshold {
        /// The threshold.
        threshold: f64,
    },
    /// The number of rollouts is 0.
    #[error("`num_rollouts` must be at least 1, found 0")]
    ZeroRollouts,
    /// The aggregation method is invalid.
    #[error(transparent)]
    Aggregation(#[from] AggregationError),
    /// The budget is 0.
    #[error("`budget_msats` must be at least 1, found 0; omit it for no limit")]
    ZeroBudget,
    /// A truth metric that may make calls declares no cost, so the budget cannot limit it.
    #[error(
        "the truth metric `{metric}` declares no cost, so the budget cannot limit it; declare one with \
         `#[metric(cost = \"100 msat\")]`, or write `.free(\"{metric}\")` if it has none"
    )]
    Unpriced {
        /// The metric.
        metric: String,
    },
    /// `free` does not name a truth metric.
    #[error("`.free(\"{name}\")` does not name a truth metric of this scorer")]
    UnknownFree {
        /// The name.
        name: String,
    },
    /// A metric cannot score any row, because its language model does not reply.
    #[error("metric `{metric}`: {reason}")]
    NotReady {
        /// The metric.
        metric: String,
        /// The reason, and what to set, in one line.
        reason: String,
    },
    /// A row has no score: a metric or the program failed, or the budget does not cover it.
    #[error("{}", row.status)]
    NoScore {
        /// The row, with the outcome of each metric and the cost.
        row: Box<RowScore>,
    },
    /// The concurrency is 0.
    #[error("`concurrency` must be at least 1, found 0")]
    ZeroConcurrency,
    /// There are no rows.
    #[error("not enough rows: expected at least 1, found 0, and the mean of no rows is undefined")]
    NoRows,
    /// An example does not declare which of its fields the program receives, and the scorer does not either.
    #[error("row {row}: {error}")]
    Inputs {
        /// The number of the row, from 1.
        row: u64,
        /// What to declare.
        error: InputError,
    },
    /// The iterator over the rows panicked.
    #[error("reading the rows panicked: {message}")]
    Rows {
        /// The panic's message.
        message: String,
    },
    /// There is no tokio runtime to run the workers.
    #[error("no tokio runtime found; run this under `#[tokio::main]`")]
    Runtime,
    /// An error of the run that has nothing to do with scoring.
    #[error(transparent)]
    Run(EvaluateError),
    /// A worker task panicked outside the metrics: in `Drop` of a row, or because of a bug in this library.
    #[error("a worker task failed: {message}")]
    Worker {
        /// The panic message.
        message: String,
    },
}

dsrs_metrics_values::debug_as_display!(ScorerError);

impl From<NotReady> for ScorerError {
    fn from(NotReady { metric, reason }: NotReady) -> Self {
        Self::NotReady { metric, reason }
    }
}

impl From<EvaluateError> for ScorerError {
    fn from(error: EvaluateError) -> Self {
        match error {
            EvaluateError::NoMetric => Self::NoMetric,
            EvaluateError::DuplicateMetric { name } => Self::DuplicateMetric { name },
            EvaluateError::NotReady { metric, reason } => Self::NotReady { metric, reason },
            EvaluateError::ZeroConcurrency => Self::ZeroConcurrency,
            EvaluateError::NoRows => Self::NoRows,
            EvaluateError::Runtime { .. } => Self::Runtime,
            EvaluateError::Worker { message } => Self::Worker { message },
            EvaluateError::Inputs { row, error } => Self::Inputs { row, error },
            EvaluateError::Rows { message } => Self::Rows { message },
            other => Self::Run(other),
        }
    }
}

fn wrong_tier(metric: &str, tier: MetricTier) -> String {
    let (found, expected) = match tier {
        MetricTier::Proxy => ("proxy", "truth"),
        MetricTier::Truth => ("truth", "proxy"),
    };
    format!(
        "expected a {expected} metric, found the {found} metric `{metric}`; add it as a {found} metric"
    )
}
