//! Labels of training data: the observed labels of a step, and those computed from them.

use serde::{Deserialize, Serialize};

use super::score::{OutcomeCoupledError, OutcomeCoupledScorer, ToolResultRecord};

/// The tolerance between a stated and a computed score, since labels may have been computed in
/// single precision.
const SCORE_TOLERANCE: f64 = 1e-6;

/// The observed labels of a step, from which the others are computed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// How far the step advanced the goal, in [-1, 1].
    pub step_utility: f64,
    /// The number of tests that passed before the step.
    pub tests_before: u32,
    /// The number of tests that passed after it.
    pub tests_after: u32,
    /// `true` if the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// `true` if the parameters are valid against the tool's schema.
    pub params_valid: bool,
}

impl StepOutcome {
    /// `tests_after - tests_before`.
    pub fn verification_delta(&self) -> i64 {
        i64::from(self.tests_after) - i64::from(self.tests_before)
    }

    /// The input of the scorer.
    pub fn record(&self) -> ToolResultRecord {
        ToolResultRecord {
            step_utility: self.step_utility,
            was_repeated: self.was_repeated,
            verification_delta: self.verification_delta(),
            params_valid: self.params_valid,
        }
    }
}

/// All labels of a step in training data: observed and computed.
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
    /// The number of tests that passed before the step.
    pub tests_before: u32,
    /// The number of tests that passed after it.
    pub tests_after: u32,
    /// Computed: `tests_after - tests_before`.
    pub verification_delta: i64,
    /// `true` if the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// `true` if the parameters are valid against the tool's schema.
    pub params_valid: bool,
    /// Computed: the outcome-coupled score, in [0, 1].
    pub outcome_score: f64,
}

impl OutcomeCoupledScorer {
    /// Computes the remaining labels of a step.
    ///
    /// # Errors
    /// [`OutcomeCoupledError::Utility`].
    pub fn label(&self, step: &StepOutcome) -> Result<OutcomeCoupledLabels, OutcomeCoupledError> {
        let StepOutcome {
            step_utility,
            tests_before,
            tests_after,
            was_repeated,
            params_valid,
        } = *step;
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
    /// The observed labels.
    pub fn step(&self) -> StepOutcome {
        StepOutcome {
            step_utility: self.step_utility,
            tests_before: self.tests_before,
            tests_after: self.tests_after,
            was_repeated: self.was_repeated,
            params_valid: self.params_valid,
        }
    }

    /// Checks that the computed labels follow from the observed ones; `outcome_score` with a
    /// tolerance of 1e-6, since it may have been computed in single precision.
    ///
    /// # Errors
    /// [`OutcomeCoupledError`] for the first label that contradicts the others.
    pub fn check(&self, scorer: &OutcomeCoupledScorer) -> Result<(), OutcomeCoupledError> {
        let computed = scorer.label(&self.step())?;
        StatedLabels {
            verification_delta: Some(self.verification_delta),
            outcome_score: Some(self.outcome_score),
        }
        .check(&computed)
    }
}

/// Computed labels that the data already contains, and that may contradict the observed ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatedLabels {
    /// The tests that pass after the step, less those before it.
    pub verification_delta: Option<i64>,
    /// The score of the step.
    pub outcome_score: Option<f64>,
}

impl StatedLabels {
    /// Checks that the stated labels are the computed ones.
    ///
    /// # Errors
    /// The label that differs.
    pub fn check(self, computed: &OutcomeCoupledLabels) -> Result<(), OutcomeCoupledError> {
        if let Some(stated) = self.verification_delta
            && stated != computed.verification_delta
        {
            let OutcomeCoupledLabels {
                tests_before: before,
                tests_after: after,
                ..
            } = *computed;
            return Err(OutcomeCoupledError::Delta {
                stated,
                before,
                after,
            });
        }
        let computed = computed.outcome_score;
        // The comparison is false for NaN.
        let is_close = |stated: &f64| (stated - computed).abs() <= SCORE_TOLERANCE;
        match self.outcome_score.filter(|stated| !is_close(stated)) {
            Some(stated) => Err(OutcomeCoupledError::Score { stated, computed }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OutcomeCoupledLabels, StepOutcome};
    use crate::outcome_coupled::{OutcomeCoupledError, OutcomeCoupledScorer};

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
    fn labels_are_computed_without_overflow() {
        let labels = labels();
        assert_eq!(labels.verification_delta, -4_294_967_295);
        assert!((labels.outcome_score - 0.7).abs() < 1e-12);
        assert_eq!(labels.check(&OutcomeCoupledScorer::default()), Ok(()));
    }

    #[test]
    fn contradictory_labels_are_errors() {
        let scorer = OutcomeCoupledScorer::default();
        let check = |labels: OutcomeCoupledLabels| labels.check(&scorer).unwrap_err().to_string();
        assert_eq!(
            check(OutcomeCoupledLabels {
                verification_delta: 1,
                ..labels()
            }),
            "`verification_delta` is 1, but `tests_after - tests_before` is 0 - 4294967295"
        );
        let error = check(OutcomeCoupledLabels {
            outcome_score: 0.9,
            ..labels()
        });
        assert!(
            error.starts_with("`outcome_score` is 0.9, but the labels give 0.7"),
            "{error}"
        );
        let nan = OutcomeCoupledLabels {
            outcome_score: f64::NAN,
            ..labels()
        };
        assert!(matches!(
            nan.check(&scorer),
            Err(OutcomeCoupledError::Score { .. })
        ));
        let single = f64::from(labels().outcome_score as f32);
        let single = OutcomeCoupledLabels {
            outcome_score: single,
            ..labels()
        };
        assert_ne!(single, labels(), "single precision differs");
        assert_eq!(single.check(&scorer), Ok(()));
    }
}
