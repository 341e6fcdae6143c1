//! Scores of a tool call by its outcome: whether the step advanced the goal, was new, made more
//! tests pass, and had valid parameters.
//!
//! The formula is defined in the `dsrs` document:
//!
//! ```text
//! score = 0.4 (step_utility + 1) / 2 + 0.3 (1 - was_repeated) + 0.2 verification + 0.1 params_valid
//! ```
//!
//! in [0, 1], where `verification` is 1 if more tests pass than before, 0.5 for as many and 0 for
//! fewer. The text and the code of the document differ: the text uses a utility in [-1, 1] as it
//! is, the code maps it to [0, 1] first. This module follows the code, with these corrections:
//!
//! - A utility outside [-1, 1], or NaN, is an error; in the document the score is then unbounded.
//! - Weights must not be negative and must sum to 1; the document does not check them. The best
//!   step scores exactly 1.
//! - Numbers of tests are unsigned 32-bit integers, so that their difference cannot overflow.
//! - Contradictory labels (`verification_delta` and the numbers of tests, `outcome_score` and the
//!   formula) are errors with file and line.
//! - A step that cannot be scored is an error and is never skipped.
//!
//! The metric `outcome_coupled` applies the formula to rows.
//! [`OutcomeCoupledScorer`] is the formula, [`OutcomeCoupledLabels`] are labels of training data,
//! and `load_jsonl_with_labels` reads them from files.

mod labels;
mod score;

#[doc(hidden)]
pub use labels::check_delta;
pub use labels::{OutcomeCoupledLabels, StepOutcome};
pub use score::{OutcomeCoupledError, OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};
