//! Scores a tool call by its outcome.
//!
//! A step scores well if it advanced the goal, did not repeat an earlier call, made more tests pass and had valid
//! parameters.
//!
//! The formula is defined in the `dsrs` document:
//!
//! ```text
//! score = 0.4 (step_utility + 1) / 2 + 0.3 (1 - was_repeated) + 0.2 verification + 0.1 params_valid
//! ```
//!
//! The score is in [0, 1]. `verification` is 1 if more tests pass than before, 0.5 if the same number pass, and 0 if
//! fewer pass.
//!
//! The document's text and code differ in how they use the utility, which is in [-1, 1]. The text uses it as is, but
//! the code first maps it to [0, 1]. This module follows the code, with these corrections:
//!
//! - A utility that is NaN or outside [-1, 1] is an error. In the document, this makes the score unbounded.
//! - Weights must not be negative and must sum to 1, so the best step scores exactly 1. The document does not check the
//!   weights.
//! - Test counts are unsigned 32-bit integers, so their difference cannot overflow.
//! - Contradictory labels are errors that give the file and line. `verification_delta` must match the test counts, and
//!   `outcome_score` must match the formula.
//! - A step that cannot be scored is an error instead of being skipped.
//!
//! The metric `outcome_coupled` applies the formula to rows. [`OutcomeCoupledScorer`] computes the score of a single
//! step.
//!
//! [`OutcomeCoupledLabels`] holds the labels of training data, which `load_jsonl_with_labels` reads from files.
//!
//! The file is long because each weight and signal is documented with its definition.

use std::num::NonZeroU32;

#[doc(hidden)]
use serde::{Deserialize, Serialize};

use crate::weights::{InvalidWeights, Weights};

/// The outcome of one tool call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolResultRecord {
    /// The progress that the step made towards the goal, in [-1, 1].
    pub step_utility: f64,
    /// `true` if the same tool was already called with the same parameters.
    pub was_repeated: bool,
    /// The change in the number of passing tests.
    ///
    /// The change is negative if fewer tests pass.
    pub verification_delta: i64,
    /// `true` if the parameters match the tool's schema.
    pub params_valid: bool,
}

/// The component weights of an outcome-coupled score.
///
/// The defaults come from the `dsrs` document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeWeights {
    /// The weight given to the step's utility.
    ///
    /// The default is 0.4.
    pub step_utility: f64,
    /// The weight given to not repeating an earlier call.
    ///
    /// The default is 0.3.
    pub repetition: f64,
    /// The weight given to the change in the number of passing tests.
    ///
    /// The default is 0.2.
    pub verification: f64,
    /// The weight given to valid parameters.
    ///
    /// The default is 0.1.
    pub schema: f64,
}

impl Default for OutcomeWeights {
    fn default() -> Self {
        Self {
            step_utility: 0.4,
            repetition: 0.3,
            verification: 0.2,
            schema: 0.1,
        }
    }
}

impl OutcomeWeights {
    fn in_order(self) -> [f64; 4] {
        [
            self.step_utility,
            self.repetition,
            self.verification,
            self.schema,
        ]
    }
}

/// Computes outcome-coupled scores for steps.
///
/// ```
/// use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let step = ToolResultRecord {
///     step_utility: 0.5,
///     was_repeated: false,
///     verification_delta: 2,
///     params_valid: false,
/// };
/// let score = OutcomeCoupledScorer::default().score(&step)?;
/// assert!((score - (0.4 * 0.75 + 0.3 + 0.2)).abs() < 1e-12);
///
/// // Only the tests count.
/// let weights =
///     OutcomeWeights { step_utility: 0.0, repetition: 0.0, verification: 1.0, schema: 0.0 };
/// assert_eq!(OutcomeCoupledScorer::new(weights)?.score(&step)?, 1.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeCoupledScorer {
    weights: Weights<4>,
    full_delta: NonZeroU32,
}

impl Default for OutcomeCoupledScorer {
    fn default() -> Self {
        let weights = Weights::unchecked(OutcomeWeights::default().in_order());
        Self {
            weights,
            full_delta: NonZeroU32::MIN,
        }
    }
}

crate::message_errors! {
    /// The error returned when a step or a set of labels cannot be scored.
    ///
    /// For example, the utility is outside [-1, 1], or a label contradicts the others.
    pub struct OutcomeCoupledError;
}

impl OutcomeCoupledScorer {
    /// Creates a scorer with the given weights.
    ///
    /// # Errors
    /// Returns [`InvalidWeights`] if a weight is negative or not finite, or if the weights do not sum to 1.
    pub fn new(weights: OutcomeWeights) -> Result<Self, InvalidWeights> {
        Ok(Self {
            weights: Weights::new(weights.in_order())?,
            ..Self::default()
        })
    }

    /// Sets how many more tests must pass for the highest verification score.
    ///
    /// Smaller changes count proportionally.
    ///
    /// The default is 1, as in the `dsrs` document, so only the sign of the change matters.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, ToolResultRecord};
    ///
    /// let scorer = OutcomeCoupledScorer::default().with_full_delta(NonZeroU32::new(4).unwrap());
    /// let step = |verification_delta| {
    ///     let (step_utility, was_repeated, params_valid) = (1.0, false, true);
    ///     ToolResultRecord { step_utility, was_repeated, verification_delta, params_valid }
    /// };
    /// assert_eq!(scorer.components(&step(1)).unwrap(), [1.0, 1.0, 0.625, 1.0]);
    /// assert_eq!(scorer.components(&step(-9)).unwrap(), [1.0, 1.0, 0.0, 1.0]);
    /// ```
    pub const fn with_full_delta(mut self, tests: NonZeroU32) -> Self {
        self.full_delta = tests;
        self
    }

    /// Returns the weight of each component, in the same order as [`components`](Self::components).
    pub const fn weights(&self) -> Weights<4> {
        self.weights
    }

    /// Returns the score for one step, in [0, 1].
    ///
    /// # Errors
    /// Returns [`OutcomeCoupledError`] if the utility is NaN or outside [-1, 1].
    pub fn score(&self, step: &ToolResultRecord) -> Result<f64, OutcomeCoupledError> {
        self.components(step)
            .map(|components| self.weights.mean(components))
    }

    /// Returns the components of the score, each in [0, 1].
    ///
    /// The components are the utility, novelty, tests and parameters, in this order. Novelty is 1 if the call does not
    /// repeat an earlier one.
    ///
    /// # Errors
    /// Returns [`OutcomeCoupledError`] if the utility is NaN or outside [-1, 1].
    pub fn components(&self, step: &ToolResultRecord) -> Result<[f64; 4], OutcomeCoupledError> {
        let utility = step.step_utility;
        if !(-1.0..=1.0).contains(&utility) {
            return Err(format!("expected a step utility in -1..=1, found {utility:?}").into());
        }
        let one_if = |condition| if condition { 1.0 } else { 0.0 };
        Ok([
            f64::midpoint(utility, 1.0),
            one_if(!step.was_repeated),
            self.verification(step.verification_delta),
            one_if(step.params_valid),
        ])
    }

    fn verification(&self, delta: i64) -> f64 {
        let full = i64::from(self.full_delta.get());
        // Both fit in 33 bits, so neither is rounded.
        let share = delta.clamp(-full, full) as f64 / full as f64;
        f64::midpoint(share, 1.0)
    }
}

/// The largest accepted difference between a stated and a computed score. Labels may have been computed in single
/// precision.
const SCORE_TOLERANCE: f64 = 1e-6;

/// The observed labels of a step.
///
/// All other labels of the step are computed from these labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// The progress that the step made towards the goal, in [-1, 1].
    pub step_utility: f64,
    /// The number of tests that passed before the step.
    pub tests_before: u32,
    /// The number of tests that passed after the step.
    pub tests_after: u32,
    /// `true` if the same tool was already called with the same parameters.
    pub was_repeated: bool,
    /// `true` if the parameters match the tool's schema.
    pub params_valid: bool,
}

impl StepOutcome {
    /// Returns the change in the number of passing tests, `tests_after - tests_before`.
    pub fn verification_delta(&self) -> i64 {
        i64::from(self.tests_after) - i64::from(self.tests_before)
    }

    /// Converts the labels to a record that [`OutcomeCoupledScorer`] accepts.
    pub fn record(&self) -> ToolResultRecord {
        ToolResultRecord {
            step_utility: self.step_utility,
            was_repeated: self.was_repeated,
            verification_delta: self.verification_delta(),
            params_valid: self.params_valid,
        }
    }
}

/// All labels of a step in training data, both observed and computed.
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
    /// The progress that the step made towards the goal, in [-1, 1].
    pub step_utility: f64,
    /// The number of tests that passed before the step.
    pub tests_before: u32,
    /// The number of tests that passed after the step.
    pub tests_after: u32,
    /// The change in the number of passing tests.
    ///
    /// This is `tests_after - tests_before`.
    pub verification_delta: i64,
    /// `true` if the same tool was already called with the same parameters.
    pub was_repeated: bool,
    /// `true` if the parameters match the tool's schema.
    pub params_valid: bool,
    /// The outcome-coupled score, in [0, 1].
    ///
    /// The score is computed from the other labels.
    pub outcome_score: f64,
}

impl OutcomeCoupledScorer {
    /// Computes the remaining labels of a step from the observed ones.
    ///
    /// # Errors
    /// Returns [`OutcomeCoupledError`] if the utility is NaN or outside [-1, 1].
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
    /// Checks that the labels in the data match the computed ones.
    ///
    /// The score may differ by up to 1e-6, because the data may have been computed in single precision.
    ///
    /// # Errors
    /// Returns [`OutcomeCoupledError`] for the first label that contradicts the others.
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

/// Checks that a difference between two test counts is correct.
///
/// # Errors
/// Returns an error if the difference does not match the test counts.
#[doc(hidden)]
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
    use super::{OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};

    fn step(
        step_utility: f64,
        was_repeated: bool,
        verification_delta: i64,
        params_valid: bool,
    ) -> ToolResultRecord {
        ToolResultRecord {
            step_utility,
            was_repeated,
            verification_delta,
            params_valid,
        }
    }

    #[test]
    fn the_best_and_worst_step_score_exactly_one_and_zero() {
        let scorer = OutcomeCoupledScorer::default();
        assert_eq!(scorer.score(&step(1.0, false, 1, true)).unwrap(), 1.0);
        assert_eq!(scorer.score(&step(-1.0, true, -1, false)).unwrap(), 0.0);
        assert_eq!(
            scorer.score(&step(1.0, false, i64::MAX, true)).unwrap(),
            1.0
        );
        assert_eq!(
            scorer.score(&step(-1.0, true, i64::MIN, false)).unwrap(),
            0.0
        );
        assert_eq!(
            scorer.components(&step(0.0, false, 0, false)).unwrap(),
            [0.5, 1.0, 0.5, 0.0]
        );
    }

    #[test]
    fn a_utility_out_of_range_or_nan_is_an_error() {
        let scorer = OutcomeCoupledScorer::default();
        for utility in [1.000_001, -1.5, 1e9, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(scorer.score(&step(utility, false, 0, true)).is_err());
        }
        assert_eq!(
            scorer
                .score(&step(f64::NAN, false, 0, true))
                .unwrap_err()
                .to_string(),
            "expected a step utility in -1..=1, found NaN"
        );
    }

    #[test]
    fn weights_are_checked() {
        let weights = OutcomeWeights {
            step_utility: 0.5,
            ..OutcomeWeights::default()
        };
        assert_eq!(
            OutcomeCoupledScorer::new(weights).unwrap_err().to_string(),
            "the weights 0.5, 0.3, 0.2, 0.1 sum to 1.1; they must sum to 1"
        );
    }
}

#[cfg(test)]
mod labels_tests {
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
