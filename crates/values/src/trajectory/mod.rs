//! Trajectories of agents, with their messages, tool calls and results.
//!
//! Trajectories can be read from common formats and compared with each other.
//!
//! A [`Trajectory`] can be the type of a row's field. The form of a value is detected automatically:
//!
//! | form | recognized by | steps |
//! | --- | --- | --- |
//! | OpenAI messages | a list of objects with `role`; an object with `messages` | messages of role `assistant` |
//! | Anthropic, Bedrock, Vercel's AI SDK | the same; `content` or `parts` has blocks such as `tool_use` and `tool_result` | the same |
//! | Gemini | the same, also with the role `model`; an object with `contents` | the same |
//! | LangChain | messages with `type`: `human`, `ai`, `tool`; also in `data`, or in `kwargs` with `lc` | messages of `ai` |
//! | ShareGPT | objects with `from` and `value`; an object with `conversations` | messages of `gpt` and `function_call` |
//! | OpenAI Responses | items of the type `function_call`, `function_call_output` or another `.._call` besides messages; a response with `output` | the same, and each call |
//! | ATIF 1.x, the Agent Trajectory Interchange Format of Harbor | `schema_version` | steps of the source `agent` |
//! | a `dsrs_metrics::rows::Trace` | objects with `predictor` | the steps, each a call |
//! | calls | objects with `name`, and `args`, `arguments`, `input_parameters` or `input` | the calls |
//! | names of tools | strings in an object with `tool_calls`; in an [`ExpectedTrajectory`] also a list of strings | the names, each a call without arguments |
//!
//! A string that contains one of these forms as JSON can be read too.
//!
//! The result of a call is the text of the tool's message. In forms without such messages, it is the JSON value. If
//! messages have no ids, a result belongs to the first call without a result in the last message with calls.
//!
//! Arguments that are not a JSON object are left as the model wrote them. They do not equal any other arguments.
//! [`Trajectory::malformed_args`] describes them.
//!
//! Other mistakes are errors that name the message:
//!
//! - Unknown roles.
//! - Unknown keys of a call.
//! - Unknown types of blocks.
//! - Results whose id does not belong to any earlier call.
//!
//! [`Trajectory::subagents`] returns the trajectories of subagents that an ATIF document embeds. For a trajectory in
//! another document, it returns the path, but the document is not read.
//!
//! None of the library's metrics counts subagents. A judge's prompt states how many of their messages and calls it does
//! not show.
//!
//! For metrics that score trajectories, see `dsrs_metrics::metrics`.

mod calls;
mod compare;
mod read;
mod steps;

pub use calls::{Condition, ToolCalls};
pub use compare::{
    ArgsFunction, ArgsRule, ArgsRules, CallCounts, CallLoop, CallOrder, LoopLimits, MatchMode,
    TooManyCalls, ToolCorrectnessOptions, TrajectoryDifference, UnmatchedCalls,
};
pub use read::{ExpectedTrajectory, TrajectoryError};
pub use steps::{Message, Role, Subagent, SubagentTrajectory, TokenUsage, ToolCall, Trajectory};
