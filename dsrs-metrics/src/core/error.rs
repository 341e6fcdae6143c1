//! Why a metric gave no score for a row.

use std::borrow::Cow;
use std::fmt;

use crate::core::spec::{MetricSpec, ScoreRange, Side};
use crate::core::type_words::in_words;

/// A [`Result`](std::result::Result) whose error is a [`MetricError`] unless said otherwise.
pub type Result<T, E = MetricError> = std::result::Result<T, E>;

/// Why a metric gave no score for a row. It never becomes a number in silence.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// The row lacks a field that the metric requires.
    #[error("metric `{metric}`: no field `{side}.{field}`{}", AmongFields(present))]
    MissingField {
        /// The metric's name.
        metric: String,
        /// The half of the row.
        side: Side,
        /// The missing field.
        field: String,
        /// The fields that the row has instead.
        present: Vec<String>,
    },
    /// A field holds something that the metric cannot read.
    #[error(
        "metric `{metric}`: field `{side}.{field}` should be {}, found {found}",
        Expected(expected)
    )]
    WrongType {
        /// The metric's name.
        metric: String,
        /// The half of the row.
        side: Side,
        /// The field.
        field: String,
        /// The type as the metric's author wrote it.
        expected: String,
        /// What the field holds.
        found: String,
    },
    /// The whole row could not be read as the type that the metric takes.
    #[error("metric `{metric}`: the {side} row is no `{expected}`: {reason}")]
    WrongRow {
        /// The metric's name.
        metric: String,
        /// The half of the row.
        side: Side,
        /// The row type as the metric's author wrote it.
        expected: String,
        /// What the deserializer said.
        reason: String,
    },
    /// The score is NaN or infinite.
    #[error("metric `{metric}`: the score {value} is not a finite number")]
    NotFinite {
        /// The metric's name.
        metric: String,
        /// The value.
        value: f64,
    },
    /// The score lies outside the range that the metric declares.
    #[error("metric `{metric}`: the score {value:?} lies outside the declared range {range}")]
    OutOfRange {
        /// The metric's name.
        metric: String,
        /// The value.
        value: f64,
        /// The declared range.
        range: ScoreRange,
    },
    /// The metric itself returned an error.
    #[error("metric `{metric}`: {message}")]
    Failed {
        /// The metric's name.
        metric: String,
        /// What the metric said.
        message: String,
    },
    /// The metric panicked.
    #[error("metric `{metric}` panicked: {message}")]
    Panicked {
        /// The metric's name.
        metric: String,
        /// The panic's message.
        message: String,
    },
    /// The metric took longer than the harness allows.
    #[error("metric `{metric}` gave no score within {seconds} s")]
    TimedOut {
        /// The metric's name.
        metric: String,
        /// The limit in seconds.
        seconds: f64,
    },
    /// Proxies of a gate inside the metric rejected the row. The harness counts it as gated, not as a
    /// failure.
    #[error("metric `{metric}`: the row was rejected by {by}")]
    Gated {
        /// The metric's name.
        metric: String,
        /// The proxies that rejected the row.
        by: String,
    },
    /// The budget for language models does not cover the call. The harness counts the row as skipped, not as a
    /// failure.
    #[error("metric `{metric}`: the budget of {budget_msats} msat does not cover the call")]
    OverBudget {
        /// The metric's name.
        metric: String,
        /// The budget, in millisatoshis.
        budget_msats: u64,
    },
    /// A component of a composite has no score, and the user did not say what then.
    #[error("metric `{metric}`: its component `{component}` has no score: {reason}")]
    NoComponent {
        /// The composite's name.
        metric: String,
        /// The component's name.
        component: String,
        /// What became of the component.
        reason: String,
    },
    /// The metric failed after it had cost something.
    #[error("{error}")]
    Paid {
        /// What the call cost, in millisatoshis.
        cost_msats: u64,
        /// Why there is no score.
        #[source]
        error: Box<MetricError>,
    },
    /// The metric returned `None`: it has no opinion on this row. The harness counts it as an
    /// abstention, not as a failure.
    #[error("metric `{metric}` abstained")]
    Abstained {
        /// The metric's name.
        metric: String,
    },
}

impl MetricError {
    /// The metric failed for a reason of its own.
    ///
    /// ```
    /// use dsrs_metrics::MetricError;
    ///
    /// let error = MetricError::failed("wer", "the reference is empty");
    /// assert_eq!(error.to_string(), "metric `wer`: the reference is empty");
    /// ```
    pub fn failed(metric: impl Into<String>, message: impl fmt::Display) -> Self {
        Self::Failed { metric: metric.into(), message: format!("{message:#}") }
    }

    /// The same failure of a call that cost something all the same: it is charged, and settled with
    /// the budget. The cost replaces one that was set before.
    ///
    /// ```
    /// use dsrs_metrics::MetricError;
    ///
    /// let error = MetricError::failed("judge", "no verdict in the reply").with_cost_msats(70);
    /// assert_eq!(error.cost_msats(), 70);
    /// assert_eq!(error.to_string(), "metric `judge`: no verdict in the reply");
    /// ```
    #[must_use]
    pub fn with_cost_msats(self, cost_msats: u64) -> Self {
        match self {
            Self::Paid { error, .. } => error.with_cost_msats(cost_msats),
            error if cost_msats == 0 => error,
            error => Self::Paid { cost_msats, error: Box::new(error) },
        }
    }

    /// What the call cost, in millisatoshis, although it gave no score.
    #[must_use]
    pub fn cost_msats(&self) -> u64 {
        match self {
            Self::Paid { cost_msats, .. } => *cost_msats,
            _ => 0,
        }
    }

    /// The failure itself, without what it cost.
    #[must_use]
    pub fn reason(&self) -> &Self {
        match self {
            Self::Paid { error, .. } => error.reason(),
            error => error,
        }
    }

    /// The same failure to whoever did not pay for it.
    pub(crate) fn paid_elsewhere(self) -> Self {
        self.with_cost_msats(0)
    }
}

/// Why a field could not be read; becomes a [`MetricError`] once metric and side are known.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub enum FieldError {
    Missing { field: Cow<'static, str>, present: Vec<String> },
    WrongType { field: Cow<'static, str>, expected: &'static str, found: String },
}

impl FieldError {
    /// Names the metric and the half of the row.
    #[must_use]
    pub fn of(self, spec: &MetricSpec<'_>, side: Side) -> MetricError {
        let metric = spec.name.to_owned();
        match self {
            Self::Missing { field, present } => {
                MetricError::MissingField { metric, side, field: field.into_owned(), present }
            }
            Self::WrongType { field, expected, found } => MetricError::WrongType {
                metric,
                side,
                field: field.into_owned(),
                expected: expected.to_owned(),
                found,
            },
        }
    }
}

/// A type in words, or in its own; and what is in words already.
pub(crate) struct Expected<'a>(pub(crate) &'a str);

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match in_words(self.0) {
            Some(words) => f.write_str(&words),
            None if self.0.contains(' ') && !self.0.contains(['<', '&', '(']) => {
                f.write_str(self.0)
            }
            None => write!(f, "`{}`", self.0),
        }
    }
}

struct AmongFields<'a>(&'a [String]);

impl fmt::Display for AmongFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("; it has no fields");
        }
        write!(f, "; it has `{}`", self.0.join("`, `"))
    }
}
