//! Metrics of the form of what a coding agent says at each step: a plan, the result of a subtask, a synthesis, what a tool
//! call was worth. Each is a weighted mean of a few checks, and says which failed.
//!
//! They look at form, not at truth: whether a plan is a good one is a judge's to say.

mod checks;
pub mod outcome_coupled;
mod planning;
mod replies;

pub use outcome_coupled::{OutcomeCoupled, outcome_coupled};
pub use planning::{SubtaskPlanning, subtask_planning};
pub use replies::{
    SubtaskExecution, Synthesis, ToolStepUtility, subtask_execution, synthesis, tool_step_utility,
};

use crate::metric;

/// Planning and synthesis of a task, sixty to forty.
///
/// `0.6 subtask_planning + 0.4 synthesis`, in [0, 1]; the execution is left out because it is scored for each subtask. The feedback is
/// that of both, worst first. A row without one of the two has no score. Other weights or settings are a composite of your own,
/// as in `#[metric(weighted(subtask_planning = 0.5, synthesis(min_summary_chars = 40) = 0.5))]`.
///
/// ```
/// use dsrs_metrics::metrics::Combined;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! {
///     "subtasks" => [json!({ "id": 1, "action": "fly", "target": "src/lib.rs", "instruction": "Add a test" })],
///     "success" => true, "summary" => "Added a test of the parser", "modified_files" => ["src/lib.rs"],
///     "confidence" => 0.9,
/// };
/// // One of four checks of the plan fails: there is no action `fly`.
/// assert_eq!(Combined.score(&example! {}, &pred)?.value, 0.6 * 0.75 + 0.4);
/// # Ok(())
/// # }
/// ```
#[metric(weighted(subtask_planning = 0.6, synthesis = 0.4))]
pub struct Combined;
