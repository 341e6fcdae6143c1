//! Metrics of the trajectories of agents: `gold.trajectory` and `pred.trajectory`, in any form that
//! [`Trajectory`](crate::trajectory::Trajectory) reads.
//!
//! Where their references differ from them, on 5,000 pairs of trajectories:
//!
//! | quirk of the reference that is not copied | here |
//! | --- | --- |
//! | all but pydantic-evals: arguments are compared as Python values, so that `True` equals 1 and 1.0 | `true` equals neither; 1 equals 1.0 |
//! | agentevals: a greedy matching can miss that all calls have a partner | `trajectory_match`: a maximum matching |
//! | agentevals: in `strict`, the calls of one message may be in any order | in the same order, so that a strict match is an ordered one |
//! | agentevals: `subset` and `unordered` compare the arguments of the expected call as if it were the call | the call with the expected call, in each mode |
//! | deepeval: a greedy assignment can miss a better one | `tool_correctness`: a best assignment |
//! | deepeval: a call that is equal to an assigned one is not assigned | each call is assigned once |
//! | ragas: sets lose repeated calls | `tool_call_f1`: multisets |
//! | ragas: the F1 is rounded to four digits | not rounded |
//! | ragas: the F1 is 0 if no call is expected and none is made | 1 |
//! | pydantic-evals: calls that failed are left out by default | `trajectory_f1`: they count |
//!
//! `ToolCallAccuracy` of ragas has no counterpart: it is 0 unless all names match, and compares arguments as strings. `tool_correctness` with `order=in_order` and `arguments=true` has credit for each expected call.

mod budgets;
mod matching;
mod no_loops;
mod scores;

pub use budgets::{
    WithinSteps, WithinTokens, WithinToolCalls, within_steps, within_tokens, within_tool_calls,
};
pub use matching::{TrajectoryMatch, TrajectoryMatchBuilder, trajectory_match};
pub use no_loops::{NoLoops, no_loops};
pub use scores::{
    ToolCallF1, ToolCorrectness, TrajectoryF1, tool_call_f1, tool_correctness, trajectory_f1,
};
