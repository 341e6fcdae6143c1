//! The results of a composite's components on one row, as the composite's score stores them.
//!
//! How they are combined is in `composite/eval/`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::interned_names::intern_all;
use crate::score::error::MetricError;
use crate::score::outcome::Outcome;
use crate::score::{MetricScore, Note, Scored, is_zero};

/// The results of the components of a composite, each under its name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Components {
    pub(crate) names: &'static [&'static str],
    pub(crate) results: Box<[ComponentResult]>,
}

impl<'de> Deserialize<'de> for Components {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Stored {
            names: Vec<String>,
            results: Box<[ComponentResult]>,
        }
        let Stored { names, results } = Stored::deserialize(from)?;
        if names.len() != results.len() {
            return Err(de::Error::invalid_length(
                results.len(),
                &"a result for each name",
            ));
        }
        Ok(Self {
            names: intern_all(names.iter().map(|name| &**name)),
            results,
        })
    }
}

/// The result of one component. Nearly all are numbers only, so anything else is boxed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredResult", into = "StoredResult")]
pub(crate) struct ComponentResult {
    state: State,
    value: f64,
    cost_msats: u64,
    /// Any outcome that is more than numbers.
    outcome: Option<Box<Outcome>>,
}

/// A [`ComponentResult`] as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredResult {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(default, skip_serializing_if = "is_zero")]
    cost_msats: u64,
}

impl From<ComponentResult> for StoredResult {
    fn from(result: ComponentResult) -> Self {
        let outcome = result.outcome().map(Cow::into_owned);
        Self {
            outcome,
            cost_msats: result.cost_msats,
        }
    }
}

impl From<StoredResult> for ComponentResult {
    fn from(
        StoredResult {
            outcome,
            cost_msats,
        }: StoredResult,
    ) -> Self {
        match outcome {
            None => Self::default(),
            Some(Outcome::Scored(scored)) if scored.is_plain() => {
                Self::of_number(Number::of(&scored))
            }
            Some(outcome) => Self::other(outcome, cost_msats),
        }
    }
}

/// A score that is numbers only; see [`Scored::is_plain`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) cost_msats: u64,
    pub(crate) passed: Option<bool>,
}

impl Number {
    #[inline]
    pub(crate) fn of(scored: &Scored) -> Self {
        let MetricScore {
            value, cost_msats, ..
        } = scored.score;
        Self {
            value,
            cost_msats,
            passed: scored.passed,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum State {
    /// Not evaluated: the component is behind a gate.
    #[default]
    NotEvaluated,
    /// Being evaluated: the component's future has not finished.
    Pending,
    /// A score with confidence 1, without a verdict, feedback or details.
    Number,
    /// The same with the verdict "pass".
    Passed,
    /// The same with the verdict "fail".
    Failed,
    /// Anything else.
    Other,
}

impl ComponentResult {
    /// Returns whether the result is a score of numbers only.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.state, State::Number | State::Passed | State::Failed)
    }

    /// Returns whether the component has not been evaluated yet.
    pub(crate) fn is_open(&self) -> bool {
        self.state == State::NotEvaluated
    }

    /// Returns whether the budget did not cover the component.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.outcome.as_deref().is_some_and(Outcome::is_skipped)
    }

    /// Returns whether the component's future has not finished.
    pub(crate) fn is_pending(&self) -> bool {
        self.state == State::Pending
    }

    /// Marks a component whose future has to be awaited.
    pub(crate) fn set_pending(&mut self) {
        self.state = State::Pending;
    }

    /// Returns a plain score's value.
    #[inline]
    pub(crate) fn plain(&self) -> Option<f64> {
        self.is_plain().then_some(self.value)
    }

    /// Returns a plain score's verdict.
    #[inline]
    pub(crate) fn passed(&self) -> Option<bool> {
        match self.state {
            State::Passed => Some(true),
            State::Failed => Some(false),
            _ => None,
        }
    }

    /// Returns the outcome, if it is more than numbers.
    pub(crate) fn as_outcome(&self) -> Option<&Outcome> {
        self.outcome.as_deref()
    }

    /// Returns the error of a component that failed.
    pub(crate) fn error(&self) -> Option<&MetricError> {
        match self.outcome.as_deref() {
            Some(Outcome::MetricFailed { error }) => Some(error),
            _ => None,
        }
    }

    /// Returns whether the component could have any score, see [`MetricError::is_estimated`].
    pub(crate) fn is_estimated(&self) -> bool {
        self.error().is_some_and(MetricError::is_estimated)
    }

    /// Returns the outcome, if the component was evaluated.
    pub(crate) fn outcome(&self) -> Option<Cow<'_, Outcome>> {
        if let Some(outcome) = &self.outcome {
            return Some(Cow::Borrowed(outcome));
        }
        let value = self.plain()?;
        let score = MetricScore::new(value).with_cost_msats(self.cost_msats);
        let scored = Scored {
            score,
            passed: self.passed(),
            note: Note::None,
        };
        Some(Cow::Owned(Outcome::Scored(scored)))
    }

    /// Creates the result of a component that panicked. The cost of its call is unknown.
    #[cold]
    pub(crate) fn panicked(metric: &str, message: String) -> Self {
        let error = MetricError::panicked(metric, message);
        Self::other(Outcome::MetricFailed { error }, 0)
    }

    /// Creates the result of a component whose outcome is more than numbers.
    #[cold]
    pub(crate) fn other(outcome: Outcome, cost_msats: u64) -> Self {
        let outcome = Some(Box::new(outcome));
        Self {
            state: State::Other,
            cost_msats,
            outcome,
            ..Self::default()
        }
    }

    /// Returns the component's cost in millisatoshis, whether it returned a score or not.
    pub(crate) fn cost_msats(&self) -> u64 {
        self.cost_msats
    }

    /// Creates the result of a component that returned numbers only.
    #[inline]
    pub(crate) fn of_number(
        Number {
            value,
            cost_msats,
            passed,
        }: Number,
    ) -> Self {
        let state = match passed {
            None => State::Number,
            Some(true) => State::Passed,
            Some(false) => State::Failed,
        };
        Self {
            state,
            value,
            cost_msats,
            outcome: None,
        }
    }
}

/// Returns the sum of the costs in millisatoshis, and the smallest confidence among the results with a score.
#[inline]
pub(crate) fn numbers(results: &[ComponentResult]) -> (u64, f64) {
    let (mut cost_msats, mut confidence) = (0_u64, 1.0_f64);
    for result in results {
        cost_msats = cost_msats.saturating_add(result.cost_msats);
        if let Some(Scored { score, .. }) = result.as_outcome().and_then(Outcome::scored) {
            confidence = confidence.min(score.confidence);
        }
    }
    (cost_msats, confidence)
}

/// The result of one component of a composite.
///
/// ```
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// #[metric(max(em, f1))]
/// struct Highest;
///
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// let scored = Highest.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
/// let failed = scored.components().find(|it| it.outcome.value() == Some(0.0)).unwrap();
/// assert_eq!((failed.name, failed.outcome.name()), ("em", "scored"));
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Component<'a> {
    /// The component's name.
    pub name: &'a str,
    /// Its outcome.
    pub outcome: Cow<'a, Outcome>,
}

impl Components {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        let named = self.names.iter().zip(&self.results);
        named.filter_map(|(name, result)| {
            Some(Component {
                name,
                outcome: result.outcome()?,
            })
        })
    }

    /// Iterates over the scores that are more than numbers.
    pub(crate) fn scored(&self) -> impl Iterator<Item = &Scored> {
        self.results
            .iter()
            .filter_map(|result| result.as_outcome().and_then(Outcome::scored))
    }

    pub(crate) fn remove_cost(&mut self) {
        for result in &mut self.results {
            result.cost_msats = 0;
            if let Some(outcome) = &mut result.outcome {
                outcome.remove_cost();
            }
        }
    }

    /// Returns the components' feedback, one line each: first components without a score, then by ascending value.
    pub(crate) fn worst_first(&self) -> Option<String> {
        if self.results.iter().all(ComponentResult::is_plain) {
            return None;
        }
        let mut lines: Vec<(f64, String)> = self.iter().filter_map(|it| line(&it)).collect();
        lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Returns a component's feedback and the value by which it is sorted.
fn line(Component { name, outcome }: &Component<'_>) -> Option<(f64, String)> {
    let Some(scored) = outcome.scored() else {
        return outcome.error().map(|error| (f64::NEG_INFINITY, error));
    };
    let value = scored.score.value;
    let feedback = scored
        .feedback()
        .or(scored.score.details.as_deref().map(Cow::Borrowed))?;
    Some((value, format!("{name} ({value}): {feedback}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::{LmError, LmErrorKind};
    use crate::score::row_answer::RowAnswer;

    #[test]
    fn a_number_keeps_its_value_cost_and_verdict() {
        for passed in [None, Some(true), Some(false)] {
            let result = ComponentResult::of_number(Number {
                value: 0.5,
                cost_msats: 3,
                passed,
            });
            assert_eq!((result.plain(), result.passed()), (Some(0.5), passed));
            let score = MetricScore::new(0.5).with_cost_msats(3);
            let scored = Scored {
                score,
                passed,
                note: Note::None,
            };
            assert_eq!(
                result.outcome().unwrap().into_owned(),
                Outcome::Scored(scored)
            );
        }
    }

    #[test]
    fn a_component_could_have_any_score_if_the_call_of_its_model_was_only_estimated() {
        let unavailable = LmErrorKind::Disconnected {
            reason: "reset".into(),
        };
        for (kind, is_estimated) in [(LmErrorKind::Estimated, true), (unavailable, false)] {
            let error = MetricError::of_model("judge", LmError::from(kind));
            let result = ComponentResult::from(Err::<RowAnswer, _>(error));
            assert_eq!(result.is_estimated(), is_estimated);
        }
        let error = MetricError::failed("judge", "no reply");
        assert!(!ComponentResult::from(Err::<RowAnswer, _>(error)).is_estimated());
        assert!(!ComponentResult::default().is_estimated());
    }
}
