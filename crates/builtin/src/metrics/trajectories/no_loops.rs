//! Repeated calls and cycles.

use std::num::NonZeroUsize;

use crate::metric;
use crate::metrics::explained::trajectories as explained;
use crate::trajectory::{LoopLimits, ToolCall, ToolCalls, Trajectory};

/// Whether the agent made no loop: no call more than `max_same` times, and no cycle of several calls more than `max_cycles` times in a row.
///
/// Calls are the same if tool and arguments are, compared as JSON. A cycle has 2 to 100 calls that follow each other in the same order,
/// which is found even where many equal calls are allowed. The tools of `allowed`, such as one that waits, do not count. The limits are those of
/// `AgentLoopDetectionMetric` of [deepeval](https://github.com/confident-ai/deepeval), which counts the third equal call as a loop. It
/// compares arguments as Python's strings (1 is "1"), knows no cycles of calls, and mixes a score of 0, 0.5 or 1 with scores of strings and
/// of nested agents.
///
/// ```
/// use dsrs_metrics::metrics::NoLoops;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "trajectory" => ["read", "test", "read", "test", "read", "test"].map(ToolCall::new) };
/// let scored = NoLoops::default().score(&example! {}, &pred)?;
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some("3 times in a row from call 1 on: `read()`, `test()`")));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max_same, max_cycles, allowed, _| {
    let limits = LoopLimits { max_same, max_cycles };
    let found = limits.find(&counted(trajectory, allowed));
    explained::with_malformed_args(trajectory, found.map(|found| explained::call_loop(&found)))
})]
pub fn no_loops(
    #[pred] trajectory: &Trajectory,
    /// How often the same call may be made.
    #[param(default = LoopLimits::default().max_same)]
    max_same: NonZeroUsize,
    /// How often a cycle of two or more calls may be made in a row.
    #[param(default = LoopLimits::default().max_cycles)]
    max_cycles: NonZeroUsize,
    /// Tools whose calls do not count.
    #[param(default = &[])]
    allowed: &[String],
) -> bool {
    LoopLimits {
        max_same,
        max_cycles,
    }
    .find(&counted(trajectory, allowed))
    .is_none()
}

fn counted<'t>(trajectory: &'t Trajectory, allowed: &[String]) -> ToolCalls<'t> {
    let is_counted = |call: &&ToolCall| !allowed.contains(&call.name);
    trajectory.tool_calls().iter().filter(is_counted).collect()
}
