//! Metrics of the steps of a coding agent: a plan, the result of a subtask, a synthesis, the
//! utility and outcome of a tool call. Each is a weighted mean of a few checks, with the reasons
//! for those that fail.
//!
//! They check form, not truth: whether a plan is good is the question of a judge.

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

/// Planning and synthesis of a task, weighted 0.6 to 0.4.
///
/// `0.6 subtask_planning + 0.4 synthesis`, in [0, 1]. The execution is not included, since it is
/// scored per subtask. The feedback joins the feedback of both components, lowest score first. A plan without a
/// synthesis scores at most 0.6. For other weights or parameters, define your own composite,
/// for example `#[metric(weighted(subtask_planning = 0.5, synthesis(min_summary_chars = 40) =
/// 0.5))]`.
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
/// // One of the four checks of the plan fails: the action `fly` is unknown.
/// assert_eq!(Combined.score(&example! {}, &pred)?.value, 0.6 * 0.75 + 0.4);
/// # Ok(())
/// # }
/// ```
#[metric(weighted(subtask_planning = 0.6, synthesis = 0.4))]
pub struct Combined;
