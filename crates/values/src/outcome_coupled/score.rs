//! The formula, its weights and its errors.

use std::num::NonZeroU32;

use crate::stats::exact_sum::ExactSum;
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

/// Why a step or a set of labels cannot be scored.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeCoupledError {
    /// The utility is outside [-1, 1], or is NaN.
    #[error("expected a step utility in -1..=1, found {found:?}")]
    Utility {
        /// The utility.
        found: f64,
    },
    /// The stated difference contradicts the numbers of tests.
    #[error(
        "`verification_delta` is {stated}, but `tests_after - tests_before` is {after} - {before}"
    )]
    Delta {
        /// The stated difference.
        stated: i64,
        /// The number of tests that passed before the step.
        before: u32,
        /// The number of tests that passed after it.
        after: u32,
    },
    /// The stated score contradicts the formula.
    #[error(
        "`outcome_score` is {stated}, but the labels give {computed} with these weights; set the weights that it was \
         computed with, or remove `outcome_score`"
    )]
    Score {
        /// The stated score.
        stated: f64,
        /// The computed score.
        computed: f64,
    },
    /// The mean over no steps is undefined.
    #[error("there are no steps to score")]
    NoSteps,
    /// One of several steps cannot be scored.
    #[error("step {number}: {error}")]
    Step {
        /// The number of the step, from 1.
        number: u64,
        /// The reason.
        #[source]
        error: Box<OutcomeCoupledError>,
    },
}

crate::debug_as_display!(OutcomeCoupledError);

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
    /// [`OutcomeCoupledError::Utility`].
    pub fn score(&self, step: &ToolResultRecord) -> Result<f64, OutcomeCoupledError> {
        self.components(step)
            .map(|components| self.weights.mean(components))
    }

    /// The components of the score, each in [0, 1]: utility, novelty, tests, parameters.
    ///
    /// # Errors
    /// [`OutcomeCoupledError::Utility`].
    pub fn components(&self, step: &ToolResultRecord) -> Result<[f64; 4], OutcomeCoupledError> {
        let ToolResultRecord {
            step_utility,
            was_repeated,
            verification_delta,
            params_valid,
        } = *step;
        if !(-1.0..=1.0).contains(&step_utility) {
            return Err(OutcomeCoupledError::Utility {
                found: step_utility,
            });
        }
        let one_if = |condition| if condition { 1.0 } else { 0.0 };
        Ok([
            f64::midpoint(step_utility, 1.0),
            one_if(!was_repeated),
            self.verification(verification_delta),
            one_if(params_valid),
        ])
    }

    /// The mean score of several steps, in [0, 1].
    ///
    /// # Errors
    /// [`OutcomeCoupledError::NoSteps`], and [`OutcomeCoupledError::Step`] for the first step that
    /// cannot be scored.
    pub fn mean<'s>(
        &self,
        steps: impl IntoIterator<Item = &'s ToolResultRecord>,
    ) -> Result<f64, OutcomeCoupledError> {
        let (mut sum, mut count) = (ExactSum::default(), 0);
        for step in steps {
            count += 1;
            let numbered = |error| OutcomeCoupledError::Step {
                number: count,
                error: Box::new(error),
            };
            sum.add(self.score(step).map_err(numbered)?);
        }
        if count == 0 {
            Err(OutcomeCoupledError::NoSteps)
        } else {
            Ok(sum.mean(count))
        }
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
    use super::{OutcomeCoupledError, OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};

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
            assert_eq!(
                scorer.score(&step(utility, false, 0, true)),
                Err(OutcomeCoupledError::Utility { found: utility })
            );
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
    fn the_mean_is_over_all_steps_or_an_error() {
        let scorer = OutcomeCoupledScorer::default();
        let (best, worst) = (step(1.0, false, 1, true), step(-1.0, true, -1, false));
        assert_eq!(scorer.mean([&best, &worst, &worst, &best]), Ok(0.5));
        assert_eq!(scorer.mean([]), Err(OutcomeCoupledError::NoSteps));
        assert_eq!(
            scorer
                .mean([&best, &step(2.0, false, 0, true)])
                .unwrap_err()
                .to_string(),
            "step 2: expected a step utility in -1..=1, found 2.0"
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
