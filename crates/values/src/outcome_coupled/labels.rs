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
    /// [`OutcomeCoupledError`] for a utility outside [-1, 1], or NaN.
    pub fn label(&self, step: &StepOutcome) -> Result<OutcomeCoupledLabels, OutcomeCoupledError> {
        Ok(OutcomeCoupledLabels {
            step_utility: step.step_utility,
            tests_before: step.tests_before,
            tests_after: step.tests_after,
            verification_delta: step.verification_delta(),
            was_repeated: step.was_repeated,
            params_valid: step.params_valid,
            outcome_score: self.score(&step.record())?,
        })
    }
}

impl OutcomeCoupledLabels {
    /// Checks the computed labels that the data already contains; the score with a tolerance of 1e-6, since it may have been
    /// computed in single precision.
    ///
    /// # Errors
    /// [`OutcomeCoupledError`] for the first label that contradicts the others.
    pub fn check(
        &self,
        verification_delta: Option<i64>,
        outcome_score: Option<f64>,
    ) -> Result<(), OutcomeCoupledError> {
        if let Some(stated) = verification_delta {
            check_delta(stated, self.tests_before, self.tests_after)?;
        }
        let computed = self.outcome_score;
        // The comparison is false for NaN.
        let is_close = |stated: &f64| (stated - computed).abs() <= SCORE_TOLERANCE;
        match outcome_score.filter(|stated| !is_close(stated)) {
            Some(stated) => Err(format!(
                "`outcome_score` is {stated}, but the labels give {computed} with these weights; set the weights that it was \
                 computed with, or remove `outcome_score`"
            )
            .into()),
            None => Ok(()),
        }
    }
}

/// Checks a stated difference.
///
/// # Errors
/// It contradicts the numbers of tests.
pub fn check_delta(stated: i64, before: u32, after: u32) -> Result<(), OutcomeCoupledError> {
    match stated == i64::from(after) - i64::from(before) {
        true => Ok(()),
        false => Err(format!(
            "`verification_delta` is {stated}, but `tests_after - tests_before` is {after} - {before}"
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{OutcomeCoupledLabels, StepOutcome};
    use crate::outcome_coupled::OutcomeCoupledScorer;

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
        let stated = labels.check(Some(labels.verification_delta), Some(labels.outcome_score));
        assert_eq!(stated, Ok(()));
        assert_eq!(labels.check(None, None), Ok(()));
    }

    #[test]
    fn contradictory_labels_are_errors() {
        let error = labels().check(Some(1), None).unwrap_err().to_string();
        let expected =
            "`verification_delta` is 1, but `tests_after - tests_before` is 0 - 4294967295";
        assert_eq!(error, expected);
        let error = labels().check(None, Some(0.9)).unwrap_err().to_string();
        let expected = "`outcome_score` is 0.9, but the labels give 0.7";
        assert!(error.starts_with(expected), "{error}");
        assert!(labels().check(None, Some(f64::NAN)).is_err());
        let single = f64::from(labels().outcome_score as f32);
        assert_ne!(single, labels().outcome_score, "single precision differs");
        assert_eq!(labels().check(None, Some(single)), Ok(()));
    }
}
