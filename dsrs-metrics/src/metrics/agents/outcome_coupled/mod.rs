//! Scores of a tool call by what came of it: did the step advance the goal, was it new, do more tests pass, were its
//! parameters valid?
//!
//! The formula is that of the `dsrs` document:
//!
//! ```text
//! score = 0.4 (step_utility + 1) / 2 + 0.3 (1 - was_repeated) + 0.2 verification + 0.1 params_valid
//! ```
//!
//! in [0, 1], where `verification` is 1 if more tests pass than before, 0.5 for as many and 0 for fewer. Where the
//! document's text and its code differ (the text takes a utility from -1 to 1 as it stands, the code first maps it to [0, 1]),
//! this is the code. What the code gets wrong is otherwise here:
//!
//! - a utility outside [-1, 1], or NaN, is an error; there it gives scores without bound;
//! - weights are checked: none negative, together 1; there they can be anything. The best step scores 1 exactly;
//! - numbers of tests are natural numbers of 32 bits, so that their difference cannot overflow;
//! - labels that contradict each other (`verification_delta` against the tests, `outcome_score` against the
//!   formula) are errors with file and line, not training data;
//! - the mean over no steps is an error, and a step that cannot be scored is named; it is never left out.
//!
//! The metric [`outcome_coupled`](crate::metrics::outcome_coupled()) scores rows with it. Here are the formula
//! (`score.rs`), labels of training data (`labels.rs`) and how these are read from files (`load.rs`).

mod labels;
mod load;
mod metric;
mod score;

pub use labels::{OutcomeCoupledLabels, StepOutcome};
pub use load::{LabelledExample, LabelledExamples, LabelsError, load_jsonl_with_labels};
pub use metric::{OutcomeCoupled, outcome_coupled};
pub use score::{OutcomeCoupledError, OutcomeCoupledScorer, OutcomeWeights, ToolResultRecord};
