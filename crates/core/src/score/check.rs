//! Return types of built-in metrics: pass or fail with a reason, or why a row is not scored.

use std::borrow::Cow;

use crate::lm::LmError;
use crate::rows::{FieldError, MissingFields};
use crate::score::{
    Decided, FeedbackMetric, MetricError, MetricReturn, MetricScore, Result, Scored,
};
use crate::spec::{MetricSpec, ScoreKind, Side};
use crate::trajectory::Condition;

/// A verdict, with the reason for a failure.
///
/// A `Check` is scored like a `bool`. Optimizers use the reason as feedback.
///
/// ```
/// use dsrs_metrics::metrics::Check;
/// use dsrs_metrics::prelude::*;
///
/// /// The answer has at most 10 characters.
/// #[metric]
/// fn short(#[pred] answer: &str) -> Check {
///     let count = answer.chars().count();
///     Check::unless((count > 10).then(|| format!("{count} characters; write at most 10")))
/// }
///
/// let (gold, pred) = (example! {}, prediction! { "answer" => "Paris, France" });
/// let scored = Short.answer(MetricCall::new(&gold, &pred)).ready().unwrap().unwrap();
/// assert_eq!(scored.passed, Some(false));
/// assert_eq!(scored.feedback().unwrap(), "13 characters; write at most 10");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// `true` if the row passes.
    pub passed: bool,
    /// The reason for a failure, or other feedback.
    pub feedback: Option<String>,
}

impl Check {
    /// Creates a passing check without feedback.
    pub const fn pass() -> Self {
        Self {
            passed: true,
            feedback: None,
        }
    }

    /// Creates a failing check with a reason.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::unless(Some(reason.into()))
    }

    /// Sets the feedback.
    ///
    /// A passing check can have feedback too.
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        self.feedback = Some(feedback.into());
        self
    }

    /// Creates a failing check if there is a reason, and a passing check otherwise.
    pub fn unless(reason: Option<String>) -> Self {
        Self {
            passed: reason.is_none(),
            feedback: reason,
        }
    }

    /// Creates a check that passes if all conditions are met.
    ///
    /// Otherwise, the check fails with the reasons for the unmet conditions.
    ///
    /// ```
    /// use dsrs_metrics::metrics::Check;
    /// use dsrs_metrics::prelude::*;
    ///
    /// let trajectory = Trajectory::of_calls(["book", "pay"].map(ToolCall::new));
    /// let calls = trajectory.tool_calls();
    /// assert_eq!(Check::all([calls.in_order(["book", "pay"]), calls.none_failed()]), Check::pass());
    /// let check = Check::all([calls.named("search").any(|_| true), calls.named("log").any(|_| true)]);
    /// assert_eq!(check, Check::fail("no call of `search`; no call of `log`"));
    /// ```
    pub fn all<C: Into<Self>>(conditions: impl IntoIterator<Item = C>) -> Self {
        let mut all = Self::pass();
        for condition in conditions {
            let Self { passed, feedback } = condition.into();
            all.passed &= passed;
            if let (false, Some(reason)) = (passed, feedback) {
                all.feedback = Some(match all.feedback {
                    Some(reasons) => reasons + "; " + &reason,
                    None => reason,
                });
            }
        }
        all
    }
}

impl From<Condition> for Check {
    fn from(condition: Condition) -> Self {
        Self::unless(condition.into_reason())
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

/// A score with details that are separate from its feedback, for metrics that learn the details only during the call.

#[derive(Debug, Clone, PartialEq)]
pub struct Explained<T> {
    /// The score, which can have feedback.
    pub score: T,
    /// The score's details.
    ///
    /// If `None`, the score keeps its own details.
    pub details: Option<String>,
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for Explained<T> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        Ok(explained(self.score.into_scored(spec)?, self.details))
    }
}

/// The reason a built-in metric cannot score a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Unscored {
    /// A field that the metric reads is missing or cannot be read.
    Field {
        /// The side of the row.
        side: Side,
        /// The error from reading the field.
        error: FieldError,
    },
    /// The call to a language model or an embedding model failed.
    Model(LmError),
    /// Any other reason, as a message.
    Because(String),
}

impl From<LmError> for Unscored {
    fn from(error: LmError) -> Self {
        Self::Model(error)
    }
}

/// Checks that a parameter is in a range.
///
/// # Errors
/// Returns a message that names the parameter if the check fails.
pub fn within<T: Copy + PartialOrd + std::fmt::Display>(
    param: &str,
    value: T,
    [least, most]: [T; 2],
) -> Result<(), String> {
    // NaN is outside every range.
    match least <= value && value <= most {
        true => Ok(()),
        false => Err(format!(
            "expected `{param}` between {least} and {most}, found {value}"
        )),
    }
}

/// Checks that a parameter is not below a minimum.
///
/// # Errors
/// Returns a message that names the parameter if the check fails.
pub fn at_least<T: Copy + PartialOrd + std::fmt::Display>(
    param: &str,
    value: T,
    least: T,
) -> Result<(), String> {
    match value >= least {
        true => Ok(()),
        false => Err(format!(
            "expected `{param}` to be at least {least}, found {value}"
        )),
    }
}

/// Checks the `beta` parameter of F-beta.
///
/// # Errors
/// If `beta` is invalid, returns a message that says what was found and what to write instead.
pub fn valid_beta(beta: f64) -> Result<(), String> {
    (beta.is_finite() && beta >= 0.0).then_some(()).ok_or_else(|| {
        format!(
            "expected a finite, non-negative `beta`, found {beta}; write 1 to weigh precision and \
             recall equally, or 2 to weigh recall twice as much"
        )
    })
}

impl Unscored {
    pub fn because(reason: impl std::fmt::Display) -> Self {
        Self::Because(reason.to_string())
    }

    /// Creates the error for a field whose value has the wrong type.
    #[doc(hidden)]
    pub fn wrong_type(
        side: Side,
        field: &str,
        expected: &'static str,
        found: impl Into<String>,
    ) -> Self {
        let error = *FieldError::wrong_type(field.to_owned(), expected, Some(found.into()));
        Self::Field { side, error }
    }

    fn of(self, metric: &str) -> MetricError {
        match self {
            Self::Field { side, error } => MetricError::field(metric, side, error),
            Self::Model(error) => MetricError::of_model(metric, error),
            Self::Because(message) => MetricError::failed(metric, message),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: MetricReturn> MetricReturn for Result<T, Unscored> {
    const KIND: ScoreKind = T::KIND;
    type Verdict = T::Verdict;

    fn into_scored(self, spec: &MetricSpec<'_>) -> Result<Scored> {
        match self {
            Ok(score) => score.into_scored(spec),
            // 0 is the lowest score of every built-in metric that reads fields by name.
            Err(Unscored::Field {
                side: Side::Pred,
                error,
            }) => {
                let missing = MissingFields::of_error(error, spec);
                match missing {
                    Ok(missing) => Scored::without_fields(0.0, missing, spec),
                    Err(error) => Err(MetricError::field(spec.name, Side::Pred, error)),
                }
            }
            Err(error) => Err(error.of(spec.name)),
        }
    }
}

/// A type that the function in `explain = ..` can return.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// fn reason(found: f64, _score: f64) -> Option<&'static str> {
///     (found < 0.0).then_some("a share is not negative")
/// }
///
/// #[metric(explain = reason)]
/// fn is_share(#[pred] share: f64) -> bool {
///     (0.0..=1.0).contains(&share)
/// }
///
/// let score = IsShare.score(&example! {}, &prediction! { "share" => -0.5 })?;
/// assert_eq!(score.details.as_deref(), Some("a share is not negative"));
/// assert_eq!(IsShare.score(&example! {}, &prediction! { "share" => 0.5 })?.details, None);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "an explanation cannot be `{Self}`",
    label = "not an explanation",
    note = "return `String`, `&'static str`, or an `Option` of one of these (`None` leaves the score without details)"
)]
pub trait Explanation {
    /// Converts the value to the score's details.
    fn into_details(self) -> Option<String>;
}

#[diagnostic::do_not_recommend]
impl Explanation for String {
    fn into_details(self) -> Option<String> {
        Some(self)
    }
}

#[diagnostic::do_not_recommend]
impl Explanation for &'static str {
    fn into_details(self) -> Option<String> {
        Some(self.to_owned())
    }
}

#[diagnostic::do_not_recommend]
impl Explanation for Cow<'static, str> {
    fn into_details(self) -> Option<String> {
        Some(self.into_owned())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Explanation> Explanation for Option<T> {
    fn into_details(self) -> Option<String> {
        self.and_then(T::into_details)
    }
}

/// Adds details to a score, if there are any.
pub fn explained(scored: Scored, details: Option<String>) -> Scored {
    match details {
        Some(details) => scored.explained(details),
        None => scored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_of_any_type_is_its_text() {
        let why = || "why".to_owned();
        for details in [
            "why".into_details(),
            why().into_details(),
            Cow::Borrowed("why").into_details(),
            Cow::<'static, str>::Owned(why()).into_details(),
            Some("why").into_details(),
        ] {
            assert_eq!(details, Some(why()));
        }
        assert_eq!(None::<String>.into_details(), None);
    }
}
