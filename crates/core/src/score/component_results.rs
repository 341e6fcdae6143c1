//! The results of a composite's components on one row, as stored in the composite's score.
//!
//! `composite/node.rs` combines them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::score::{MetricError, Outcome, Result, RowAnswer};
use crate::score::{Scored, is_zero};

/// The results of a composite's components, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Components(pub(crate) Vec<(Cow<'static, str>, ComponentResult)>);

/// The result of one component.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ComponentResult {
    /// `None` if the component was not evaluated, because it is behind a gate or its future has not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) cost_msats: u64,
    /// `true` if the component's future has not finished.
    #[serde(skip)]
    pub(crate) is_pending: bool,
}

impl ComponentResult {
    /// Returns `true` if the result is a purely numeric score.
    pub(crate) fn is_plain(&self) -> bool {
        self.scored().is_some_and(Scored::is_plain)
    }

    /// Returns `true` if the budget did not cover the component.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.outcome.as_ref().is_some_and(Outcome::is_skipped)
    }

    /// Returns `true` if the component was evaluated or its future has not finished.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_pending || self.outcome.is_some()
    }

    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn scored(&self) -> Option<&Scored> {
        self.outcome.as_ref().and_then(Outcome::scored)
    }

    /// Returns the error of a component that failed.
    pub(crate) fn error(&self) -> Option<&MetricError> {
        match &self.outcome {
            Some(Outcome::MetricFailed { error }) => Some(error),
            _ => None,
        }
    }

    /// Returns `true` if the component could have any score; see [`MetricError::is_estimated`].
    pub(crate) fn is_estimated(&self) -> bool {
        self.error().is_some_and(MetricError::is_estimated)
    }
}

impl From<Result<RowAnswer>> for ComponentResult {
    fn from(answer: Result<RowAnswer>) -> Self {
        let paid = answer.as_ref();
        Self {
            cost_msats: paid.map_or_else(MetricError::cost_msats, RowAnswer::cost_msats),
            outcome: Some(answer.into()),
            is_pending: false,
        }
    }
}

/// Returns the total cost in millisatoshis, and the smallest confidence among results with a score.
pub(crate) fn numbers(results: &[ComponentResult]) -> (u64, f64) {
    let (mut cost_msats, mut confidence) = (0_u64, 1.0_f64);
    for result in results {
        cost_msats = cost_msats.saturating_add(result.cost_msats);
        if let Some(Scored { score, .. }) = result.scored() {
            confidence = confidence.min(score.confidence);
        }
    }
    (cost_msats, confidence)
}

/// The result of one component in a composite.
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
    /// The component's outcome.
    pub outcome: &'a Outcome,
}

impl Components {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        self.0.iter().filter_map(|(name, result)| {
            Some(Component {
                name,
                outcome: result.outcome()?,
            })
        })
    }

    /// Iterates over the scores of components.
    pub(crate) fn scored(&self) -> impl Iterator<Item = &Scored> {
        self.0.iter().filter_map(|(_, result)| result.scored())
    }

    pub(crate) fn remove_cost(&mut self) {
        for (_, result) in &mut self.0 {
            result.cost_msats = 0;
            if let Some(outcome) = &mut result.outcome {
                outcome.remove_cost();
            }
        }
    }

    /// Returns the components' feedback, one line each: first components without a score, then by ascending value.
    pub(crate) fn worst_first(&self) -> Option<String> {
        let mut lines: Vec<(f64, String)> = self.iter().filter_map(|it| line(&it)).collect();
        lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Returns a component's feedback, and the value to sort it by.
fn line(Component { name, outcome }: &Component<'_>) -> Option<(f64, String)> {
    let Some(scored) = outcome.scored() else {
        return outcome.error().map(|error| (f64::NEG_INFINITY, error));
    };
    let value = scored.score.value;
    let details = scored.score.details.as_deref().map(Cow::Borrowed);
    let feedback = scored.feedback().or(details)?;
    Some((value, format!("{name} ({value}): {feedback}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lm::{LmError, LmErrorKind};

    #[test]
    fn a_component_could_have_any_score_if_the_call_of_its_model_was_only_estimated() {
        let unavailable = LmErrorKind::Disconnected("reset".into());
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
