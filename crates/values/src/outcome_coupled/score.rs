//! The formula, its weights and its errors.

use std::num::NonZeroU32;

use crate::weights::{InvalidWeights, Weights};

/// The outcome of one tool call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolResultRecord {
    /// How far the step advanced the goal, in [-1, 1].
    pub step_utility: f64,
    /// `true` if the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// The change in the number of passing tests; negative if fewer pass.
    pub verification_delta: i64,
    /// `true` if the parameters are valid against the tool's schema.
    pub params_valid: bool,
}

/// The weights of the components. The defaults are the weights in the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeWeights {
    /// The weight of the step's utility: 0.4 by default.
    pub step_utility: f64,
    /// The weight of the call being new: 0.3 by default.
    pub repetition: f64,
    /// The weight of the change in passing tests: 0.2 by default.
    pub verification: f64,
    /// The weight of valid parameters: 0.1 by default.
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

/// Computes the outcome-coupled score of steps.
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
    /// Why a step or a set of labels cannot be scored: the utility is outside [-1, 1], or a stated label contradicts the others.
    pub struct OutcomeCoupledError;
}

impl OutcomeCoupledScorer {
    /// Creates a scorer with other weights.
    ///
    /// # Errors
    /// [`InvalidWeights`] if a weight is negative or not finite, or if they do not sum to 1.
    pub fn new(weights: OutcomeWeights) -> Result<Self, InvalidWeights> {
        Ok(Self {
            weights: Weights::new(weights.in_order())?,
            full_delta: NonZeroU32::MIN,
        })
    }

    /// Sets the change in passing tests that counts in full; smaller changes count proportionally.
    /// With 1, as in the document, only the sign of the change matters.
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

    /// The weights, in the order of [`components`](Self::components).
    pub const fn weights(&self) -> Weights<4> {
        self.weights
    }

    /// The score of a step, in [0, 1].
    ///
    /// # Errors
    /// [`OutcomeCoupledError`] for a utility outside [-1, 1], or NaN.
    pub fn score(&self, step: &ToolResultRecord) -> Result<f64, OutcomeCoupledError> {
        self.components(step)
            .map(|components| self.weights.mean(components))
    }

    /// The components of the score, each in [0, 1]: utility, novelty, tests, parameters.
    ///
    /// # Errors
    /// [`OutcomeCoupledError`] for a utility outside [-1, 1], or NaN.
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
