//! The outcome of one metric on one row: a score, or the reason why there is none.
//!
//! The file is long because of its tests, which cover each outcome in each form.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::rows::MissingFields;
use crate::score::{Counted, MetricError, MetricErrorKind, Result, Scored};

/// The outcome of one metric on one row.
///
/// Only [`Scored`](Self::Scored) has a value. The other variants are never converted to a number implicitly.
///
/// Stores use the serialized form, which may change between versions.
///
/// A contribution to a score over all rows cannot be stored, because the metric's author defines the type of its state.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// let rated = metric_fn("rated", |_, pred| pred.get("rating").and_then(|rating| rating.as_f64()));
/// let gold = example! {};
/// let outcome = |pred: Prediction| Outcome::from(rated.answer(MetricCall::new(&gold, &pred)).ready().unwrap());
/// assert_eq!(outcome(prediction! { "rating" => 0.5 }).value(), Some(0.5));
/// assert_eq!(outcome(prediction! {}), Outcome::Abstained);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The metric returned a score.
    Scored(Scored),
    /// A cheaper metric rejected the row, so this metric was not evaluated.
    Gated {
        /// The name of the metric that rejected the row.
        by: String,
    },
    /// The budget did not cover the call.
    ///
    /// The metric was not evaluated or was stopped.
    Skipped {
        /// The budget, in millisatoshis.
        budget: u64,
        /// The cost, in millisatoshis, of a judge that was stopped between two calls.
        cost_msats: u64,
    },
    /// The metric scores all rows together.
    ///
    /// This row has no score of its own but contributes to the score over all rows.
    #[serde(skip)]
    Counted(Counted),
    /// The metric returned `None`.
    Abstained,
    /// The run's gates were already decided, so the row was not evaluated.
    NotNeeded,
    /// The row is not in the sample that the metric judges.
    NotSampled {
        /// The probability that the row would be sampled, or 0 if the run was stopped before the sample was drawn.
        probability: f64,
    },
    /// The metric failed.
    #[serde(with = "MetricError")]
    MetricFailed {
        /// The metric's error.
        error: MetricError,
    },
    /// The program returned no prediction, so there was nothing to score.
    #[serde(with = "Arc::<str>")]
    ProgramFailed {
        /// The program's error, shared by all of the row's metrics.
        error: Arc<str>,
    },
}

impl Outcome {
    /// Returns the score, if there is one.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let same = metric_fn("same", |_, _| true);
    /// let outcome = Outcome::from(same.answer(MetricCall::new(&gold, &pred)).ready().unwrap());
    /// assert_eq!(outcome.scored().unwrap().passed, Some(true));
    /// assert_eq!(Outcome::Abstained.scored(), None);
    /// ```
    pub fn scored(&self) -> Option<&Scored> {
        match self {
            Self::Scored(scored) => Some(scored),
            _ => None,
        }
    }

    /// Returns the score's value, if there is one.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let failed = Outcome::from(MetricError::failed("wer", "the reference is empty"));
    /// assert_eq!(failed.value(), None); // not 0
    /// ```
    pub fn value(&self) -> Option<f64> {
        self.scored().map(|scored| scored.score.value)
    }

    /// Returns the cost of the call, in millisatoshis, even if the call failed.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let failed = Outcome::from(MetricError::failed("judge", "the reply is not JSON").with_cost_msats(70));
    /// assert_eq!(failed.cost_msats(), 70);
    /// assert_eq!(Outcome::Skipped { budget: 100, cost_msats: 60 }.cost_msats(), 60);
    /// assert_eq!(Outcome::Gated { by: "syntax".to_owned() }.cost_msats(), 0);
    /// ```
    pub fn cost_msats(&self) -> u64 {
        match self {
            Self::Scored(scored) => scored.score.cost_msats,
            Self::MetricFailed { error } => error.cost_msats(),
            Self::Skipped { cost_msats, .. } => *cost_msats,
            _ => 0,
        }
    }

    /// Sets the cost to zero, for an outcome that is reused.
    pub(crate) fn remove_cost(&mut self) {
        match self {
            Self::Scored(scored) => scored.remove_cost(),
            Self::MetricFailed { error } => *error = error.clone().with_cost_msats(0),
            Self::Skipped { cost_msats, .. } => *cost_msats = 0,
            _ => {}
        }
    }

    /// Returns `true` if the outcome or one of its components contributes to a score over all rows.
    #[doc(hidden)]
    pub fn has_contribution(&self) -> bool {
        match self {
            Self::Counted(_) => true,
            Self::Scored(scored) => {
                let mut components = scored.components();
                scored.corpus().is_some() || components.any(|it| it.outcome.has_contribution())
            }
            _ => false,
        }
    }

    /// Returns `true` if the metric or the program failed.
    ///
    /// ```
    /// # use dsrs_metrics::Outcome;
    /// assert!(Outcome::ProgramFailed { error: "connection refused".into() }.is_failure());
    /// assert!(!Outcome::Abstained.is_failure());
    /// assert!(!Outcome::Skipped { budget: 100, cost_msats: 0 }.is_failure());
    /// ```
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::MetricFailed { .. } | Self::ProgramFailed { .. })
    }

    /// Returns `true` if a budget did not cover the row.
    #[doc(hidden)]
    pub fn is_skipped(&self) -> bool {
        matches!(self, Self::Skipped { .. })
    }

    /// Returns the outcome's name in snake case, as in result files.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// assert_eq!(Outcome::from(MetricError::failed("wer", "the reference is empty")).name(), "metric_failed");
    /// assert_eq!(Outcome::Gated { by: "syntax".to_owned() }.name(), "gated");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::Scored(_) => "scored",
            Self::Gated { .. } => "gated",
            Self::Skipped { .. } => "skipped",
            Self::Counted(_) => "counted",
            Self::Abstained => "abstained",
            Self::NotNeeded => "not_needed",
            Self::NotSampled { .. } => "not_sampled",
            Self::MetricFailed { .. } => "metric_failed",
            Self::ProgramFailed { .. } => "program_failed",
        }
    }

    /// Returns the error message, if the metric or the program failed.
    ///
    /// ```
    /// # use dsrs_metrics::{MetricError, Outcome};
    /// let failed = Outcome::from(MetricError::failed("wer", "the reference is empty"));
    /// assert_eq!(failed.error().unwrap(), "metric `wer`: the reference is empty");
    /// assert_eq!(Outcome::Abstained.error(), None);
    /// ```
    pub fn error(&self) -> Option<String> {
        match self {
            Self::MetricFailed { error } => Some(error.to_string()),
            Self::ProgramFailed { error } => Some(error.to_string()),
            _ => None,
        }
    }
}

impl From<MetricError> for Outcome {
    fn from(error: MetricError) -> Self {
        match error.kind() {
            MetricErrorKind::Abstained => Self::Abstained,
            MetricErrorKind::Gated { by } => Self::Gated { by: by.clone() },
            MetricErrorKind::OverBudget { budget_msats } => Self::Skipped {
                budget: *budget_msats,
                cost_msats: error.cost_msats(),
            },
            _ => Self::MetricFailed { error },
        }
    }
}

/// A metric's result for one row.
///
/// The result is a score, or the row's contribution to a score over all rows.
///
/// ```
/// use dsrs_metrics::metrics::Accuracy;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::contract::RowAnswer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let (gold, pred) = (example! { "answer" => "yes" }, prediction! { "answer" => "no" });
/// let answer = Accuracy::default().answer(MetricCall::new(&gold, &pred)).resolved().await?;
/// let RowAnswer::Counted { counted, .. } = answer else { panic!("{answer:?}") };
/// assert_eq!(counted.score(), Ok(0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum RowAnswer {
    /// The row's score.
    Scored(Scored),
    /// The row's contribution to a score over all rows.
    Counted {
        /// The metric's name.
        metric: String,
        /// The cost of the call, in millisatoshis.
        cost_msats: u64,
        /// The row's contribution.
        counted: Counted,
    },
}

impl RowAnswer {
    /// Returns the row's score.
    ///
    /// ```
    /// use dsrs_metrics::metrics::Accuracy;
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let (gold, pred) = (example! { "answer" => "yes" }, prediction! { "answer" => "no" });
    /// let answer = Accuracy::default().answer(MetricCall::new(&gold, &pred)).resolved().await?;
    /// let message = "metric `accuracy` scores all rows together, not single rows; \
    ///                run it with `Evaluate` or the `score` command";
    /// assert_eq!(answer.scored().unwrap_err().to_string(), message);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`MetricErrorKind::NoRowScore`] if the metric scores all rows together.
    #[inline]
    pub fn scored(self) -> Result<Scored> {
        match self {
            Self::Scored(scored) => Ok(scored),
            Self::Counted {
                metric, cost_msats, ..
            } => {
                let error = MetricError::new(metric, MetricErrorKind::NoRowScore);
                Err(error.with_cost_msats(cost_msats))
            }
        }
    }

    /// Returns the cost of the call, in millisatoshis.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> dsrs_metrics::Result<()> {
    /// let paid = metric_fn("paid", |_, _| true).with_cost_msats(40);
    /// # let (gold, pred) = (example! {}, prediction! {});
    /// let answer = paid.answer(MetricCall::new(&gold, &pred)).resolved().await?;
    /// assert_eq!(answer.cost_msats(), 40);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cost_msats(&self) -> u64 {
        match self {
            Self::Scored(scored) => scored.score.cost_msats,
            Self::Counted { cost_msats, .. } => *cost_msats,
        }
    }

    /// Sets the cost to zero, for an answer that is reused.
    pub(crate) fn without_cost(mut self) -> Self {
        match &mut self {
            Self::Scored(scored) => scored.remove_cost(),
            Self::Counted { cost_msats, .. } => *cost_msats = 0,
        }
        self
    }

    /// Records the fields that the metric reads but the row lacks.
    #[cold]
    pub(crate) fn with_missing(mut self, missing: Box<MissingFields>) -> Self {
        match &mut self {
            Self::Scored(scored) => scored.set_missing(missing),
            Self::Counted { counted, .. } => counted.missing = Some(missing),
        }
        self
    }
}

impl From<Scored> for RowAnswer {
    #[inline]
    fn from(scored: Scored) -> Self {
        Self::Scored(scored)
    }
}

#[doc(hidden)]
pub fn row_answer<T: Into<RowAnswer>>(result: Result<T>) -> Result<RowAnswer> {
    result.map(T::into)
}

impl<T: Into<RowAnswer>> From<Result<T, MetricError>> for Outcome {
    fn from(result: Result<T, MetricError>) -> Self {
        match result.map(T::into) {
            Ok(RowAnswer::Scored(scored)) => Self::Scored(scored),
            Ok(RowAnswer::Counted { counted, .. }) => Self::Counted(counted),
            Err(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use serde_json::{Value, json};

    use super::*;
    use crate::rows::field_error::FieldError;
    use crate::score::MetricScore;
    use crate::score::component_results::{ComponentResult, Components};
    use crate::score::corpus::CorpusCounts;
    use crate::score::outcome::RowAnswer;
    use crate::spec::{MetricSpec, Side};

    fn scored(score: MetricScore) -> Scored {
        Scored::validated(score, &MetricSpec::new("m")).unwrap()
    }

    fn failed(kind: MetricErrorKind) -> Outcome {
        Outcome::MetricFailed {
            error: MetricError::new("m", kind).with_cost_msats(7),
        }
    }

    fn composite() -> Outcome {
        let (number, note) = (MetricScore::new(0.5).with_cost_msats(3), "why".to_owned());
        let results = [
            ComponentResult::from(Ok::<RowAnswer, _>(scored(number).into())),
            ComponentResult::from(Ok::<RowAnswer, _>(
                scored(MetricScore::new(0.0)).explained(note).into(),
            )),
            ComponentResult::default(),
        ];
        let names = ["a", "b", "c"].map(Into::into);
        let components = Components(names.into_iter().zip(results).collect());
        let spec = MetricSpec::new("all");
        let scored = Scored::of_components(0.25, (3, 1.0), Some(components), &spec);
        Outcome::Scored(scored.unwrap())
    }

    /// A store keeps outcomes in this form.
    #[test]
    fn stored_outcomes_have_this_form_and_equal_the_original_when_read() {
        let score = MetricScore::new(0.1 + 0.2)
            .with_details("why")
            .with_confidence(1.0 / 3.0);
        let score = score.with_cost_msats(u64::MAX);
        let (side, field) = (Side::Pred, "answer".into());
        let wrong = FieldError::WrongType {
            field,
            expected: "bool".into(),
            found: "7".into(),
        };
        let stored = [
            (
                Outcome::Scored(scored(MetricScore::new(1.0))),
                r#"{"scored":{"value":1.0}}"#,
            ),
            (
                Outcome::Scored(scored(score.clone())),
                r#"{"scored":{"value":0.30000000000000004,"confidence":0.3333333333333333,"details":"why","cost_msats":18446744073709551615}}"#,
            ),
            (
                Outcome::Scored(scored(score).explained("because".to_owned())),
                r#"{"scored":{"value":0.30000000000000004,"confidence":0.3333333333333333,"details":"because","cost_msats":18446744073709551615,"critique":{"feedback":"why"}}}"#,
            ),
            (
                composite(),
                r#"{"scored":{"value":0.25,"cost_msats":3,"critique":{"components":[["a",{"outcome":{"scored":{"value":0.5,"cost_msats":3}},"cost_msats":3}],["b",{"outcome":{"scored":{"value":0.0,"details":"why"}}}],["c",{}]]}}}"#,
            ),
            (
                Outcome::Gated {
                    by: "em".to_owned(),
                },
                r#"{"gated":{"by":"em"}}"#,
            ),
            (
                Outcome::Skipped {
                    budget: 5,
                    cost_msats: 3,
                },
                r#"{"skipped":{"budget":5,"cost_msats":3}}"#,
            ),
            (Outcome::Abstained, r#""abstained""#),
            (Outcome::NotNeeded, r#""not_needed""#),
            (
                Outcome::NotSampled { probability: 0.25 },
                r#"{"not_sampled":{"probability":0.25}}"#,
            ),
            (
                Outcome::ProgramFailed {
                    error: "no \"answer\"\n\u{1b}".into(),
                },
                r#"{"program_failed":"no \"answer\"\n\u001b"}"#,
            ),
            (
                failed(MetricErrorKind::Field { side, error: wrong }),
                r#"{"metric_failed":{"metric":"m","kind":{"field":{"side":"pred","error":{"wrong_type":{"field":"answer","expected":"bool","found":"7"}}}},"cost_msats":7}}"#,
            ),
            (
                failed(MetricErrorKind::TimedOut { seconds: 0.25 }),
                r#"{"metric_failed":{"metric":"m","kind":{"timed_out":{"seconds":0.25}},"cost_msats":7}}"#,
            ),
        ];
        for (outcome, json) in &stored {
            assert_eq!(serde_json::to_string(outcome).unwrap(), *json);
            assert_eq!(serde_json::from_str::<Outcome>(json).unwrap(), *outcome);
        }
    }

    #[test]
    fn the_error_of_a_component_is_stored_and_any_other_source_is_not() {
        let stored = |error: &MetricError| {
            serde_json::from_value::<MetricError>(serde_json::to_value(error).unwrap()).unwrap()
        };
        let inner = MetricError::new("part", MetricErrorKind::Abstained);
        let kind = MetricErrorKind::MissingComponent {
            component: "part".to_owned(),
            reason: inner.to_string(),
            error: Some(inner),
        };
        let error = stored(&MetricError::new("all", kind));
        assert_eq!(
            error.source().unwrap().to_string(),
            "metric `part` abstained"
        );
        let error = MetricError::caused_by("m", "x".parse::<u8>().unwrap_err());
        assert_eq!(stored(&error), error);
        assert!(stored(&error).source().is_none());
    }

    #[test]
    fn contributions_to_a_score_of_all_rows_are_found_in_components_too() {
        let counts = CorpusCounts::new([1, 2], |counts: &[u64]| Some(counts[0] as f64));
        let of_row = || scored(MetricScore::new(1.0)).with_corpus(counts.clone());
        assert!(Outcome::Scored(of_row()).has_contribution());
        assert!(Outcome::Counted(Counted::new(counts.clone())).has_contribution());
        assert!(!composite().has_contribution());
        let result = ComponentResult::from(Ok::<RowAnswer, _>(of_row().into()));
        let components = Components(vec![("a".into(), result)]);
        let spec = MetricSpec::new("all");
        let all = Scored::of_components(1.0, (0, 1.0), Some(components), &spec).unwrap();
        assert!(Outcome::Scored(all).has_contribution());
        let counted = Outcome::Counted(Counted::new(counts));
        let error = serde_json::to_string(&counted).unwrap_err().to_string();
        assert_eq!(
            error,
            "the enum variant Outcome::Counted cannot be serialized"
        );
    }

    /// Returns the sum of all costs in a stored outcome.
    fn costs(stored: &Value) -> u64 {
        let of_field = |(key, value): (&String, &Value)| match key == "cost_msats" {
            true => value.as_u64().unwrap(),
            false => costs(value),
        };
        match stored {
            Value::Object(fields) => fields.iter().map(of_field).sum(),
            Value::Array(items) => items.iter().map(costs).sum(),
            _ => 0,
        }
    }

    #[test]
    fn an_outcome_has_the_cost_of_the_call_and_none_where_it_is_reused() {
        for (mut outcome, cost_msats) in [
            (composite(), 3),
            (failed(MetricErrorKind::NoRowScore), 7),
            (
                Outcome::Skipped {
                    budget: 5,
                    cost_msats: 2,
                },
                2,
            ),
            (Outcome::Abstained, 0),
        ] {
            assert_eq!(outcome.cost_msats(), cost_msats);
            outcome.remove_cost();
            assert_eq!(costs(&json!(outcome)), 0, "{outcome:?}");
        }
    }

    #[test]
    fn errors_that_are_no_failures_have_outcomes_of_their_own() {
        let outcome = |kind| Outcome::from(MetricError::new("m", kind).with_cost_msats(3));
        let gated = Outcome::Gated {
            by: "em".to_owned(),
        };
        assert_eq!(
            outcome(MetricErrorKind::Gated {
                by: "em".to_owned()
            }),
            gated
        );
        let skipped = Outcome::Skipped {
            budget: 5,
            cost_msats: 3,
        };
        assert_eq!(
            outcome(MetricErrorKind::OverBudget { budget_msats: 5 }),
            skipped
        );
        assert_eq!(outcome(MetricErrorKind::Abstained), Outcome::Abstained);
        assert!(outcome(MetricErrorKind::NoRowScore).is_failure());
    }
}
