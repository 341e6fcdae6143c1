//! Errors from metrics: why a row has no score.
//!
//! The file is long because each error is documented with its message.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::lm::LmError;
use crate::rows::FieldError;
use crate::spec::{ScoreRange, Side};

/// A [`Result`](std::result::Result) whose error type defaults to [`MetricError`].
///
/// ```
/// use dsrs_metrics::{MetricError, Result};
///
/// fn rating(text: &str) -> Result<f64> {
///     text.parse::<f64>().map_err(|error| MetricError::caused_by("rating", error))
/// }
///
/// assert_eq!(rating("0.5")?, 0.5);
/// assert_eq!(rating("good").unwrap_err().to_string(), "metric `rating`: invalid float literal");
/// # Ok::<(), MetricError>(())
/// ```
pub type Result<T, E = MetricError> = std::result::Result<T, E>;

/// The error returned when a metric has no score for a row.
///
/// The error contains the metric's name and the cost of the call.
///
/// ```
/// use dsrs_metrics::{MetricError, contract::MetricErrorKind};
///
/// let error = MetricError::failed("wer", "the reference is empty").with_cost_msats(70);
/// assert_eq!(error.to_string(), "metric `wer`: the reference is empty");
/// assert_eq!((error.metric(), error.cost_msats()), ("wer", 70));
/// assert!(matches!(error.kind(), MetricErrorKind::Failed { .. }));
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct MetricError(Box<Inner>);

#[derive(Clone, Serialize, Deserialize)]
struct Inner {
    metric: String,
    kind: MetricErrorKind,
    #[serde(default)]
    cost_msats: u64,
    /// The metric's own error. Its type is defined by the metric's author, so it is not stored.
    #[serde(skip)]
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// The reason for a [`MetricError`].
///
/// ```
/// use dsrs_metrics::{contract::MetricErrorKind, prelude::*};
///
/// let percent = metric_fn("percent", |_, _| 87.0).with_range(0.0, 1.0);
/// let error = percent.score(&example! {}, &prediction! {}).unwrap_err();
/// assert!(matches!(error.kind(), MetricErrorKind::Failed { .. }));
/// assert_eq!(error.to_string(), "metric `percent`: the score 87.0 is outside the declared range 0.0..=1.0");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MetricErrorKind {
    /// A field that the metric reads is missing or cannot be read.
    Field {
        /// The side of the row.
        side: Side,
        /// The error from reading the field.
        error: FieldError,
    },
    /// The row could not be deserialized into the type of the metric's parameter.
    Row {
        /// The side of the row.
        side: Side,
        /// The row type as the metric's author wrote it.
        expected: String,
        /// The deserializer's message.
        reason: String,
    },
    /// The metric itself returned an error, or a score that is not finite or not in its declared range.
    ///
    /// A typed error is available as the [`source`](Error::source).
    Failed {
        /// The metric's message.
        message: String,
    },
    /// The metric panicked.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The metric exceeded the harness's time limit.
    TimedOut {
        /// The limit in seconds.
        seconds: f64,
    },
    /// The metric contains a gate whose proxies rejected the row.
    ///
    /// The harness counts the row as gated, not as failed.
    Gated {
        /// The names of the proxies that rejected the row.
        by: String,
    },
    /// The language model budget does not cover the call.
    ///
    /// The harness counts the row as skipped, not as failed.
    OverBudget {
        /// The budget, in millisatoshis.
        budget_msats: u64,
    },
    /// A composite has no score because one of its components has none.
    ///
    /// See [`OnMissing`](crate::OnMissing).
    MissingComponent {
        /// The component's name.
        component: String,
        /// The reason why the component has no score.
        reason: String,
        /// The component's error, if it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<MetricError>,
    },
    /// The metric returned `None`.
    ///
    /// The harness counts the row as an abstention, not as a failure.
    Abstained,
    /// The metric scores all rows together, so one row has no score.
    NoRowScore,
}

impl MetricError {
    /// Creates an error for the metric named `metric`.
    ///
    /// ```
    /// use dsrs_metrics::{MetricError, contract::MetricErrorKind};
    ///
    /// let error = MetricError::new("wer", MetricErrorKind::TimedOut { seconds: 1.5 });
    /// assert_eq!(error.to_string(), "metric `wer` returned no score within 1.5 s");
    /// ```
    pub fn new(metric: impl Into<String>, kind: MetricErrorKind) -> Self {
        Self(Box::new(Inner {
            metric: metric.into(),
            kind,
            cost_msats: 0,
            source: None,
        }))
    }

    /// Creates an error with the given message for a metric that failed.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let error = MetricError::failed("compiles", "no compiler found; set `COMPILER`");
    /// assert_eq!(error.to_string(), "metric `compiles`: no compiler found; set `COMPILER`");
    /// assert!(Outcome::from(error).is_failure());
    /// ```
    pub fn failed(metric: impl Into<String>, message: impl fmt::Display) -> Self {
        let message = format!("{message:#}");
        Self::new(metric, MetricErrorKind::Failed { message })
    }

    /// Creates an error for a metric that failed because of a typed error.
    ///
    /// The typed error stays available as the [`source`](Error::source).
    ///
    /// ```
    /// use std::error::Error as _;
    /// use dsrs_metrics::MetricError;
    ///
    /// let parse = "x".parse::<u8>().unwrap_err();
    /// let error = MetricError::caused_by("rating", parse.clone());
    /// assert_eq!(error.to_string(), "metric `rating`: invalid digit found in string");
    /// assert_eq!(error.source().unwrap().downcast_ref(), Some(&parse));
    /// ```
    pub fn caused_by(
        metric: impl Into<String>,
        source: impl Error + Send + Sync + 'static,
    ) -> Self {
        let mut error = Self::failed(metric, &source);
        error.0.source = Some(Arc::new(source));
        error
    }

    /// Creates an error for a metric whose model call failed or exceeds the budget.
    pub(crate) fn of_model(metric: &str, error: LmError) -> Self {
        let cost_msats = error.cost_msats().unwrap_or(0);
        let error = match error.budget_msats() {
            Some(budget_msats) => Self::new(metric, MetricErrorKind::OverBudget { budget_msats }),
            None => Self::caused_by(metric, error),
        };
        error.with_cost_msats(cost_msats)
    }

    #[doc(hidden)]
    pub fn out_of_range(metric: impl Into<String>, value: f64, range: ScoreRange) -> Self {
        let error = format!("the score {value:?} is outside the declared range {range}");
        Self::failed(metric, error)
    }

    #[doc(hidden)]
    pub fn field(metric: impl Into<String>, side: Side, error: FieldError) -> Self {
        Self::new(metric, MetricErrorKind::Field { side, error })
    }

    /// Creates an error for a metric that abstained on this row.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let error = MetricError::abstained("bleu");
    /// assert_eq!(error.to_string(), "metric `bleu` abstained");
    /// assert_eq!(Outcome::from(error), Outcome::Abstained);
    /// ```
    pub fn abstained(metric: impl Into<String>) -> Self {
        Self::new(metric, MetricErrorKind::Abstained)
    }

    #[doc(hidden)]
    pub fn panicked(metric: impl Into<String>, message: String) -> Self {
        Self::new(metric, MetricErrorKind::Panicked { message })
    }

    /// Sets the cost of the call, in millisatoshis.
    ///
    /// This cost counts toward the budget even though the row has no score.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let error = MetricError::failed("judge", "the reply is not JSON").with_cost_msats(70);
    /// assert_eq!(Outcome::from(error).cost_msats(), 70);
    /// ```
    pub fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.0.cost_msats = cost_msats;
        self
    }

    /// Returns the metric's name.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// let wer = metric_fn("wer", |_, _| Err::<f64, _>("the reference is empty"));
    /// let error = wer.score(&example! {}, &prediction! {}).unwrap_err();
    /// assert_eq!(error.metric(), "wer");
    /// ```
    pub fn metric(&self) -> &str {
        &self.0.metric
    }

    /// Returns the reason for the error.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, contract::MetricErrorKind};
    /// let error = MetricError::failed("wer", "the reference is empty");
    /// let MetricErrorKind::Failed { message } = error.kind() else { panic!("{error:?}") };
    /// assert_eq!(message, "the reference is empty"); // without the name of the metric
    /// ```
    pub fn kind(&self) -> &MetricErrorKind {
        &self.0.kind
    }

    /// Returns the cost of the call, in millisatoshis.
    ///
    /// A call can have a cost even though the row has no score.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// // An abstention costs as much as a score.
    /// let bleu = metric_fn("bleu", |_, _| None::<f64>).with_cost_msats(40);
    /// assert_eq!(bleu.score(&example! {}, &prediction! {}).unwrap_err().cost_msats(), 40);
    /// ```
    pub fn cost_msats(&self) -> u64 {
        self.0.cost_msats
    }

    /// Returns `true` if a required field is missing from the prediction or is `null`.
    ///
    /// For a composite, this method checks the component that left the composite without a score.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// #[metric]
    /// fn is_short(#[pred] answer: &str) -> bool {
    ///     answer.len() < 10
    /// }
    ///
    /// let error = |pred| IsShort.score(&example! {}, &pred).unwrap_err();
    /// assert!(error(prediction! {}).is_missing_from_prediction());
    /// assert!(error(prediction! { "answer" => () }).is_missing_from_prediction());
    /// assert!(!error(prediction! { "answer" => 7 }).is_missing_from_prediction());
    /// ```
    pub fn is_missing_from_prediction(&self) -> bool {
        match self.of_metric().kind() {
            MetricErrorKind::Field {
                side: Side::Pred,
                error,
            } => error.is_absent(),
            MetricErrorKind::Row {
                side: Side::Pred,
                reason,
                ..
            } => {
                // serde's messages for a struct's field.
                reason.starts_with("missing field ") || reason.starts_with("invalid type: null, ")
            }
            _ => false,
        }
    }

    /// Returns `true` if a field that the metric reads contains NaN or an infinity.
    ///
    /// For a composite, this method checks the component that left the composite without a score.
    #[doc(hidden)]
    pub fn is_not_finite(&self) -> bool {
        let kind = self.of_metric().kind();
        matches!(
            kind,
            MetricErrorKind::Field {
                error: FieldError::NotFinite { .. },
                ..
            }
        )
    }

    /// Returns the error of the component that left a composite without a score, or of the metric itself.
    fn of_metric(&self) -> &Self {
        match self.kind() {
            MetricErrorKind::MissingComponent {
                error: Some(error), ..
            } => error.of_metric(),
            _ => self,
        }
    }

    /// Returns `true` if the metric called a model whose calls are estimated, so it could have any score.
    pub(crate) fn is_estimated(&self) -> bool {
        let causes = std::iter::successors(self.source(), |error| (*error).source());
        causes
            .filter_map(|cause| cause.downcast_ref())
            .any(LmError::is_estimated)
    }
}

impl PartialEq for MetricError {
    /// Ignores the source, because its message is part of the kind.
    fn eq(&self, other: &Self) -> bool {
        (self.0.cost_msats, &self.0.metric, &self.0.kind)
            == (other.0.cost_msats, &other.0.metric, &other.0.kind)
    }
}

impl Error for MetricError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match (self.kind(), &self.0.source) {
            (MetricErrorKind::MissingComponent { error, .. }, _) => Some(error.as_ref()?),
            (_, source) => Some(source.as_deref()?),
        }
    }
}

dsrs_metrics_values::debug_as_display!(MetricError);

impl fmt::Display for MetricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use MetricErrorKind as Kind;
        let Inner { metric, kind, .. } = &*self.0;
        write!(f, "metric `{metric}`")?;
        match kind {
            Kind::Field { side, error } => {
                f.write_str(": ")?;
                error.write(f, *side)
            }
            Kind::Row { side, expected, reason } => {
                write!(f, ": the {side} row is not a `{expected}`: {reason}")
            }
            Kind::Failed { message } => write!(f, ": {message}"),
            Kind::Panicked { message } => write!(f, " panicked: {message}"),
            Kind::TimedOut { seconds } => write!(f, " returned no score within {seconds} s"),
            Kind::Gated { by } => write!(f, ": the row was rejected by {by}"),
            Kind::OverBudget { budget_msats } => {
                write!(f, ": the budget of {budget_msats} msat does not cover the call")
            }
            Kind::MissingComponent { component, reason, .. } => {
                write!(f, ": its component `{component}` has no score: {reason}")
            }
            Kind::Abstained => f.write_str(" abstained"),
            Kind::NoRowScore => f.write_str(
                " scores all rows together, not single rows; run it with `Evaluate` or the `score` command",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MetricError;

    #[test]
    fn errors_are_equal_if_metric_reason_and_cost_are() {
        let source = "x".parse::<u8>().unwrap_err();
        let error = || MetricError::failed("m", &source);
        assert_eq!(
            error(),
            MetricError::caused_by("m", source.clone()),
            "the message is compared"
        );
        assert_ne!(error(), MetricError::failed("other", &source));
        assert_ne!(error(), MetricError::failed("m", "other"));
        assert_ne!(error(), error().with_cost_msats(1));
    }

    #[test]
    fn main_prints_the_message_of_an_error_that_it_returns() {
        let error = MetricError::abstained("m").with_cost_msats(7);
        assert_eq!(format!("Error: {error:?}"), "Error: metric `m` abstained");
    }
}
