//! What a built-in metric says of a row: pass or fail with the reason, or why it can say neither.

use crate::core::error::{FieldError, MetricError, Result};
use crate::core::return_types::{Decided, MetricReturn};
use crate::core::score::{FeedbackMetric, MetricScore, Scored};
use crate::core::spec::{MetricSpec, ScoreKind, Side};

/// Pass or fail, with the reason for a failure.
///
/// It counts like a `bool`; the reason is the feedback that an optimizer reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Whether the row passes.
    pub passed: bool,
    /// What is wrong, or worth knowing.
    pub feedback: Option<String>,
}

impl Check {
    /// A pass that needs no words.
    #[must_use]
    pub const fn pass() -> Self {
        Self { passed: true, feedback: None }
    }

    /// A failure and its reason.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self { passed: false, feedback: Some(reason.into()) }
    }

    /// A pass if there is no reason against it.
    #[must_use]
    pub fn unless(reason: Option<String>) -> Self {
        Self { passed: reason.is_none(), feedback: reason }
    }
}

#[diagnostic::do_not_recommend]
impl MetricReturn for Check {
    const KIND: ScoreKind = ScoreKind::Bool;
    type Verdict = Decided;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        let value = f64::from(u8::from(self.passed));
        let Some(feedback) = self.feedback else {
            return Scored::of_value(value, spec);
        };
        let score = MetricScore::new(value).with_cost_msats(spec.cost_msats);
        Scored::of_feedback(score, FeedbackMetric::new(value, feedback), spec)
    }
}

/// Why a built-in metric cannot score a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Unscored {
    /// A field that the metric reads is missing or cannot be read.
    Field {
        /// The half of the row.
        side: Side,
        /// What is wrong with the field.
        error: FieldError,
    },
    /// Anything else, in a sentence.
    Because(String),
}

/// Whether a number in a metric's configuration lies where it must.
///
/// # Errors
/// A sentence that names the parameter.
pub(super) fn within<T: Copy + PartialOrd + std::fmt::Display>(
    param: &str,
    value: T,
    [least, most]: [T; 2],
) -> Result<(), String> {
    // NaN is within no bounds.
    let is_within = least <= value && value <= most;
    is_within
        .then_some(())
        .ok_or_else(|| format!("`{param}` lies between {least} and {most}, and {value} does not"))
}

/// Whether a number in a metric's configuration is not too small.
///
/// # Errors
/// A sentence that names the parameter.
pub(super) fn at_least<T: Copy + PartialOrd + std::fmt::Display>(
    param: &str,
    value: T,
    least: T,
) -> Result<(), String> {
    let is_enough = value >= least;
    is_enough
        .then_some(())
        .ok_or_else(|| format!("`{param}` is {least} or more, and {value} is not"))
}

impl Unscored {
    pub(super) fn because(reason: impl std::fmt::Display) -> Self {
        Self::Because(reason.to_string())
    }

    /// A field with a value of another type.
    pub(super) fn wrong_type(
        side: Side,
        field: &str,
        expected: &'static str,
        found: impl Into<String>,
    ) -> Self {
        let (field, found) = (field.to_owned().into(), found.into());
        Self::Field {
            side,
            error: FieldError::WrongType { field, expected: expected.into(), found },
        }
    }

    fn of(self, metric: &str) -> MetricError {
        match self {
            Self::Field { side, error } => error.of(metric, side),
            Self::Because(message) => MetricError::failed(metric, message),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for Result<T, Unscored> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        self.map_err(|error| error.of(spec.name))?.into_scored(spec)
    }
}
