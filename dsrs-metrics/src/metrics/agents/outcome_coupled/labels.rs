//! Labels of training data: what was seen of a step, and what follows from it.

use serde::{Deserialize, Serialize};

use super::score::{OutcomeCoupledError, OutcomeCoupledScorer, ToolResultRecord};

/// How far a stated score may be from the formula's: labels may have been made in single precision.
const SCORE_TOLERANCE: f64 = 1e-6;

/// What was seen of a step: the labels from which the others are computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// How far the step advanced the goal, in [-1, 1].
    pub step_utility: f64,
    /// How many tests passed before the step.
    pub tests_before: u32,
    /// How many tests passed after it.
    pub tests_after: u32,
    /// Whether the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// Whether the parameters are valid by the tool's schema.
    pub params_valid: bool,
}

impl StepOutcome {
    /// `tests_after - tests_before`.
    #[must_use]
    pub fn verification_delta(&self) -> i64 {
        i64::from(self.tests_after) - i64::from(self.tests_before)
    }

    /// What the scorer reads.
    #[must_use]
    pub fn record(&self) -> ToolResultRecord {
        ToolResultRecord {
            step_utility: self.step_utility,
            was_repeated: self.was_repeated,
            verification_delta: self.verification_delta(),
            params_valid: self.params_valid,
        }
    }
}

/// The labels of a step in training data, those that were seen and those that are computed.
///
/// ```
/// use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, StepOutcome};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let step = StepOutcome {
///     step_utility: 1.0,
///     tests_before: 10,
///     tests_after: 12,
///     was_repeated: false,
///     params_valid: true,
/// };
/// let labels = OutcomeCoupledScorer::default().label(&step)?;
/// assert_eq!((labels.verification_delta, labels.outcome_score), (2, 1.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OutcomeCoupledLabels {
    /// How far the step advanced the goal, in [-1, 1].
    pub step_utility: f64,
    /// How many tests passed before the step.
    pub tests_before: u32,
    /// How many tests passed after it.
    pub tests_after: u32,
    /// Computed: `tests_after - tests_before`.
    pub verification_delta: i64,
    /// Whether the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// Whether the parameters are valid by the tool's schema.
    pub params_valid: bool,
    /// Computed: the outcome-coupled score, in [0, 1].
    pub outcome_score: f64,
}

impl OutcomeCoupledScorer {
    /// Adds what is computed to what was seen.
    ///
    /// # Errors
    /// [`OutcomeCoupledError::Utility`].
    pub fn label(&self, step: &StepOutcome) -> Result<OutcomeCoupledLabels, OutcomeCoupledError> {
        let StepOutcome { step_utility, tests_before, tests_after, was_repeated, params_valid } =
            *step;
        Ok(OutcomeCoupledLabels {
            step_utility,
            tests_before,
            tests_after,
            verification_delta: step.verification_delta(),
            was_repeated,
            params_valid,
            outcome_score: self.score(&step.record())?,
        })
    }
}

impl OutcomeCoupledLabels {
    /// What was seen.
    #[must_use]
    pub fn step(&self) -> StepOutcome {
        StepOutcome {
            step_utility: self.step_utility,
            tests_before: self.tests_before,
            tests_after: self.tests_after,
            was_repeated: self.was_repeated,
            params_valid: self.params_valid,
        }
    }

    /// Whether what is computed follows from what was seen; `outcome_score` within 1e-6, because it may have been made in single
    /// precision.
    ///
    /// # Errors
    /// [`OutcomeCoupledError`] for the first label that contradicts the others.
    pub fn check(&self, scorer: &OutcomeCoupledScorer) -> Result<(), OutcomeCoupledError> {
        let computed = scorer.label(&self.step())?;
        Stated {
            verification_delta: Some(self.verification_delta),
            outcome_score: Some(self.outcome_score),
        }
        .check(&computed)
    }
}

/// Computed labels that stand beside the others and may contradict them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stated {
    pub(crate) verification_delta: Option<i64>,
    pub(crate) outcome_score: Option<f64>,
}

impl Stated {
    pub(crate) fn check(self, computed: &OutcomeCoupledLabels) -> Result<(), OutcomeCoupledError> {
        if let Some(stated) = self.verification_delta
            && stated != computed.verification_delta
        {
            let OutcomeCoupledLabels { tests_before: before, tests_after: after, .. } = *computed;
            return Err(OutcomeCoupledError::Delta { stated, before, after });
        }
        let computed = computed.outcome_score;
        // NaN is near nothing.
        let is_near = |stated: &f64| (stated - computed).abs() <= SCORE_TOLERANCE;
        match self.outcome_score.filter(|stated| !is_near(stated)) {
            Some(stated) => Err(OutcomeCoupledError::Score { stated, computed }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OutcomeCoupledLabels, StepOutcome};
    use crate::metrics::agents::outcome_coupled::{OutcomeCoupledError, OutcomeCoupledScorer};

    fn labels() -> OutcomeCoupledLabels {
        let step = StepOutcome {
            step_utility: 0.5,
            tests_before: u32::MAX,
            tests_after: 0,
            was_repeated: false,
            params_valid: true,
        };
        OutcomeCoupledScorer::default().label(&step).unwrap()
    }

    #[test]
    fn what_follows_is_computed_without_overflow() {
        let labels = labels();
        assert_eq!(labels.verification_delta, -4_294_967_295);
        assert!((labels.outcome_score - 0.7).abs() < 1e-12);
        assert_eq!(labels.check(&OutcomeCoupledScorer::default()), Ok(()));
    }

    #[test]
    fn labels_that_contradict_each_other_are_told() {
        let scorer = OutcomeCoupledScorer::default();
        let check = |labels: OutcomeCoupledLabels| labels.check(&scorer).unwrap_err().to_string();
        assert_eq!(
            check(OutcomeCoupledLabels { verification_delta: 1, ..labels() }),
            "`verification_delta` is 1, but `tests_after - tests_before` is 0 - 4294967295"
        );
        let said = check(OutcomeCoupledLabels { outcome_score: 0.9, ..labels() });
        assert!(said.starts_with("`outcome_score` is 0.9, but the labels make 0.7"), "{said}");
        let nan = OutcomeCoupledLabels { outcome_score: f64::NAN, ..labels() };
        assert!(matches!(nan.check(&scorer), Err(OutcomeCoupledError::Score { .. })));
        let single = f64::from(labels().outcome_score as f32);
        let single = OutcomeCoupledLabels { outcome_score: single, ..labels() };
        assert_ne!(single, labels(), "single precision is not the same");
        assert_eq!(single.check(&scorer), Ok(()));
    }
}
