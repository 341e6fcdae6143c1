//! Why a scorer could not be set up or run. Rows without a score are no such error: they are counted.

use super::aggregate::AggregationError;
use crate::core::requirements::NotReady;
use crate::core::spec::{MetricTier, ScoreRange};

/// Why a [`Scorer`](super::Scorer) could not be set up, or gave no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScorerError {
    /// There is nothing to score with.
    #[error("no metric: add at least one with `.metric(..)`")]
    NoMetric,
    /// Two metrics could not be told apart.
    #[error("two metrics are called `{name}`: rename one with `#[metric(name = \"..\")]`")]
    DuplicateMetric {
        /// The name.
        name: String,
    },
    /// A metric was added to the tier that it does not belong to.
    #[error("`{metric}` is {} metrics", cannot_stand(*tier))]
    WrongTier {
        /// The metric.
        metric: String,
        /// The tier that its spec names.
        tier: MetricTier,
    },
    /// A metric of unknown range has no mean with others.
    #[error(
        "`{metric}` declares no range, so its mean with other metrics would mean nothing: \
         declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
    )]
    NoRange {
        /// The metric.
        metric: String,
    },
    /// The range is empty, a single value, or too wide for its width to be a number.
    #[error("`{metric}` declares the range {range}, which cannot be brought to [0, 1]")]
    UnusableRange {
        /// The metric.
        metric: String,
        /// The range.
        range: ScoreRange,
    },
    /// The gate's threshold is no normalised score.
    #[error("a threshold of {threshold:?} lies outside [0, 1], where proxy scores lie")]
    Threshold {
        /// The threshold.
        threshold: f64,
    },
    /// Nothing would ever be scored.
    #[error("0 rollouts score nothing: use at least 1")]
    ZeroRollouts,
    /// The aggregation method is no method.
    #[error(transparent)]
    Aggregation(#[from] AggregationError),
    /// No metric that costs anything would ever run.
    #[error("a budget of 0 msat covers nothing: give one, or leave it out for no limit")]
    ZeroBudget,
    /// A truth metric without a price would escape the budget.
    #[error(
        "the budget cannot hold `{metric}`, a truth metric that declares no cost: declare one with \
         `#[metric(cost = \"100 msat\")]`, or say `.free(\"{metric}\")` if it really has none"
    )]
    Unpriced {
        /// The metric.
        metric: String,
    },
    /// `free` names no truth metric.
    #[error("`.free(\"{name}\")` names no truth metric of this scorer")]
    UnknownFree {
        /// The name.
        name: String,
    },
    /// A metric could score no row: the language model that it asks does not answer.
    #[error("metric `{metric}`: {reason}")]
    NotReady {
        /// The metric.
        metric: String,
        /// One line that says what to set.
        reason: String,
    },
    /// Nothing would ever run.
    #[error("a concurrency of 0 runs nothing: use at least 1")]
    ZeroConcurrency,
    /// There is nothing to average over.
    #[error("not enough rows: there are none, and an average over none is not 0")]
    NoRows,
    /// The rows' own iterator panicked.
    #[error("reading the rows panicked: {message}")]
    Rows {
        /// The panic's message.
        message: String,
    },
    /// There is nothing that could run the workers.
    #[error("there is no tokio runtime: run this under `#[tokio::main]`")]
    Runtime,
    /// A worker died outside of the metrics: in `Drop` of a row, or by a mistake in this library.
    #[error("a worker stopped: {message}")]
    Worker {
        /// What it said.
        message: String,
    },
}

impl From<NotReady> for ScorerError {
    fn from(NotReady { metric, reason }: NotReady) -> Self {
        Self::NotReady { metric, reason }
    }
}

fn cannot_stand(tier: MetricTier) -> &'static str {
    match tier {
        MetricTier::Proxy => "a proxy metric and cannot stand among the truth",
        MetricTier::Truth => "a truth metric and cannot stand among the proxy",
    }
}
