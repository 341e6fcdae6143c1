//! The formula.

use std::num::NonZeroU32;

use crate::core::weights::{InvalidWeights, Weights};
use crate::stats::exact_sum::ExactSum;

/// What came of one tool call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolResultRecord {
    /// How far the step advanced the goal, in [-1, 1].
    pub step_utility: f64,
    /// Whether the same tool was called with the same parameters before.
    pub was_repeated: bool,
    /// How many more tests pass after the step than before; negative if fewer do.
    pub verification_delta: i64,
    /// Whether the parameters are valid by the tool's schema.
    pub params_valid: bool,
}

/// How much each part of an outcome counts. The defaults are the document's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeWeights {
    /// Whether the step advanced the goal: 0.4.
    pub step_utility: f64,
    /// Whether the call is a new one: 0.3.
    pub repetition: f64,
    /// Whether more tests pass: 0.2.
    pub verification: f64,
    /// Whether the parameters are valid: 0.1.
    pub schema: f64,
}

impl Default for OutcomeWeights {
    fn default() -> Self {
        Self { step_utility: 0.4, repetition: 0.3, verification: 0.2, schema: 0.1 }
    }
}

impl OutcomeWeights {
    fn in_order(self) -> [f64; 4] {
        [self.step_utility, self.repetition, self.verification, self.schema]
    }
}

/// Scores steps by their outcome.
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
/// let weights = OutcomeWeights { step_utility: 0.0, repetition: 0.0, verification: 1.0, schema: 0.0 };
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
        let weights = Weights::known(OutcomeWeights::default().in_order());
        Self { weights, full_delta: NonZeroU32::MIN }
    }
}

/// A step that has no score.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutcomeCoupledError {
    /// The utility lies outside [-1, 1], or is NaN.
    #[error("a step's utility lies in -1..=1, found {found:?}")]
    Utility {
        /// The utility.
        found: f64,
    },
    /// The difference is not that of the numbers of tests.
    #[error(
        "`verification_delta` is {stated}, but `tests_after - tests_before` is {after} - {before}"
    )]
    Delta {
        /// What is said.
        stated: i64,
        /// The tests that passed before the step.
        before: u32,
        /// The tests that passed after it.
        after: u32,
    },
    /// The score is not what the formula gives.
    #[error(
        "`outcome_score` is {stated}, but the labels make {computed} with these weights; set the weights it was made with, or \
         take `outcome_score` away"
    )]
    Score {
        /// What is said.
        stated: f64,
        /// What the formula gives.
        computed: f64,
    },
    /// There is no mean over nothing.
    #[error("there are no steps to score")]
    NoSteps,
    /// One of several steps has no score.
    #[error("step {number}: {error}")]
    Step {
        /// Which step, from 1.
        number: u64,
        /// Why.
        #[source]
        error: Box<OutcomeCoupledError>,
    },
}

impl OutcomeCoupledScorer {
    /// A scorer with other weights.
    ///
    /// # Errors
    /// [`InvalidWeights`] if a weight is negative or not finite, or if they do not sum to 1.
    pub fn new(weights: OutcomeWeights) -> Result<Self, InvalidWeights> {
        Ok(Self { weights: Weights::new(weights.in_order())?, full_delta: NonZeroU32::MIN })
    }

    /// Sets how many tests more or fewer count in full; fewer than that count their share. 1, as in the
    /// document, looks only at whether there are more or fewer.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use dsrs_metrics::outcome_coupled::{OutcomeCoupledScorer, ToolResultRecord};
    ///
    /// let scorer = OutcomeCoupledScorer::default().with_full_delta(NonZeroU32::new(4).unwrap());
    /// let step = |verification_delta| {
    ///     ToolResultRecord { step_utility: 1.0, was_repeated: false, verification_delta, params_valid: true }
    /// };
    /// assert_eq!(scorer.parts(&step(1)).unwrap(), [1.0, 1.0, 0.625, 1.0]);
    /// assert_eq!(scorer.parts(&step(-9)).unwrap(), [1.0, 1.0, 0.0, 1.0]);
    /// ```
    #[must_use]
    pub const fn with_full_delta(mut self, tests: NonZeroU32) -> Self {
        self.full_delta = tests;
        self
    }

    /// The weights of utility, novelty, tests and parameters.
    #[must_use]
    pub const fn weights(&self) -> Weights<4> {
        self.weights
    }

    /// The score of a step, in [0, 1].
    ///
    /// # Errors
    /// [`OutcomeCoupledError::Utility`].
    pub fn score(&self, step: &ToolResultRecord) -> Result<f64, OutcomeCoupledError> {
        self.parts(step).map(|parts| self.weights.mean(parts))
    }

    /// What the score is made of, each in [0, 1]: utility, novelty, tests, parameters.
    ///
    /// # Errors
    /// [`OutcomeCoupledError::Utility`].
    pub fn parts(&self, step: &ToolResultRecord) -> Result<[f64; 4], OutcomeCoupledError> {
        let ToolResultRecord { step_utility, was_repeated, verification_delta, params_valid } =
            *step;
        if !(-1.0..=1.0).contains(&step_utility) {
            return Err(OutcomeCoupledError::Utility { found: step_utility });
        }
        let one_if = |is_so| if is_so { 1.0 } else { 0.0 };
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
    /// [`OutcomeCoupledError::NoSteps`], and [`OutcomeCoupledError::Step`] for the first step that has no
    /// score.
    pub fn mean<'s>(
        &self,
        steps: impl IntoIterator<Item = &'s ToolResultRecord>,
    ) -> Result<f64, OutcomeCoupledError> {
        let (mut sum, mut count) = (ExactSum::default(), 0);
        for step in steps {
            count += 1;
            let named = |error| OutcomeCoupledError::Step { number: count, error: Box::new(error) };
            sum.add(self.score(step).map_err(named)?);
        }
        if count == 0 { Err(OutcomeCoupledError::NoSteps) } else { Ok(sum.mean(count)) }
    }

    fn verification(&self, delta: i64) -> f64 {
        let full = i64::from(self.full_delta.get());
        // Both lie within 32 bits and a sign, so neither is rounded.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
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
        ToolResultRecord { step_utility, was_repeated, verification_delta, params_valid }
    }

    #[test]
    fn the_bounds_are_reached_exactly() {
        let scorer = OutcomeCoupledScorer::default();
        assert_eq!(scorer.score(&step(1.0, false, 1, true)).unwrap(), 1.0);
        assert_eq!(scorer.score(&step(-1.0, true, -1, false)).unwrap(), 0.0);
        assert_eq!(scorer.score(&step(1.0, false, i64::MAX, true)).unwrap(), 1.0);
        assert_eq!(scorer.score(&step(-1.0, true, i64::MIN, false)).unwrap(), 0.0);
        assert_eq!(scorer.parts(&step(0.0, false, 0, false)).unwrap(), [0.5, 1.0, 0.5, 0.0]);
    }

    #[test]
    fn trap_09_no_utility_beyond_its_range_and_no_nan_is_scored() {
        let scorer = OutcomeCoupledScorer::default();
        for utility in [1.000_001, -1.5, 1e9, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(
                scorer.score(&step(utility, false, 0, true)),
                Err(OutcomeCoupledError::Utility { found: utility })
            );
        }
        assert_eq!(
            scorer.score(&step(f64::NAN, false, 0, true)).unwrap_err().to_string(),
            "a step's utility lies in -1..=1, found NaN"
        );
    }

    #[test]
    fn the_mean_is_over_all_steps_or_is_none() {
        let scorer = OutcomeCoupledScorer::default();
        let (best, worst) = (step(1.0, false, 1, true), step(-1.0, true, -1, false));
        assert_eq!(scorer.mean([&best, &worst, &worst, &best]), Ok(0.5));
        assert_eq!(scorer.mean([]), Err(OutcomeCoupledError::NoSteps));
        assert_eq!(
            scorer.mean([&best, &step(2.0, false, 0, true)]).unwrap_err().to_string(),
            "step 2: a step's utility lies in -1..=1, found 2.0"
        );
    }

    #[test]
    fn weights_are_checked() {
        let weights = OutcomeWeights { step_utility: 0.5, ..OutcomeWeights::default() };
        assert_eq!(
            OutcomeCoupledScorer::new(weights).unwrap_err().to_string(),
            "the weights 0.5, 0.3, 0.2, 0.1 sum to 1.1; they must sum to 1"
        );
    }
}
