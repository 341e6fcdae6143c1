//! The trajectory of a subagent.

use serde::Serialize;

use super::steps::Trajectory;

/// A subagent, to whose trajectory a [`Trajectory`] refers. Its messages and calls are not those of the agent: they count in no
/// method of the agent's trajectory.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::SubagentTrajectory;
/// use serde_json::json;
///
/// let trajectory = Trajectory::from_json(json!({
///     "schema_version": "ATIF-v1.7",
///     "steps": [{"source": "agent", "message": "", "tool_calls": [
///         {"tool_call_id": "a", "function_name": "delegate", "arguments": {}},
///     ], "observation": {"results": [
///         {"source_call_id": "a", "content": "21 C", "subagent_trajectory_ref": [{"trajectory_id": "weather-1"}]},
///     ]}}],
///     "subagent_trajectories": [{"schema_version": "ATIF-v1.7", "trajectory_id": "weather-1", "steps": [
///         {"source": "agent", "message": "", "tool_calls": [
///             {"tool_call_id": "b", "function_name": "search", "arguments": {}},
///         ]},
///     ]}],
/// }))?;
/// assert_eq!(trajectory.tool_calls().names(), ["delegate"]);
/// let [subagent] = trajectory.subagents() else { unreachable!() };
/// assert_eq!(subagent.tool_call_id.as_deref(), Some("a"));
/// let SubagentTrajectory::Embedded(of_subagent) = &subagent.trajectory else { unreachable!() };
/// assert_eq!(of_subagent.tool_calls().names(), ["search"]);
/// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subagent {
    /// The id of the call whose result refers to the subagent, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The trajectory.
    #[serde(flatten)]
    pub trajectory: SubagentTrajectory,
}

/// The trajectory of a [`Subagent`], or where it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SubagentTrajectory {
    /// It is part of the document.
    Embedded(#[serde(serialize_with = "as_trajectory")] Trajectory),
    /// It is in another document, which is not read.
    External {
        /// The path, or `session` and the id of the session, as documents until ATIF 1.6 may have it.
        path: String,
    },
}

fn as_trajectory<S: serde::Serializer>(
    trajectory: &Trajectory,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Wrapped<'t> {
        trajectory: &'t Trajectory,
    }
    Wrapped { trajectory }.serialize(serializer)
}
