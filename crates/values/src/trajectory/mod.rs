//! Trajectories of agents: messages, tool calls and their results, read from the formats in use, and compared.
//!
//! A [`Trajectory`] is a field type of rows. The form of a value is detected:
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
//! A string that contains one of these as JSON is read too. A result has the text of the tool's message, or the JSON
//! value in other forms. Arguments that are not a JSON object remain as the model wrote them and equal no arguments;
//! [`Trajectory::malformed_args`] names them. Other mistakes are errors, which name the message: unknown roles, keys of
//! a call and types of blocks, and results whose id no earlier call has. In messages without ids a result belongs to
//! the first call of the last message that has none. [`Trajectory::subagents`] has the trajectories of subagents that
//! an ATIF document embeds, and the paths of others, which are not read. No metric of the library counts them; a
//! judge's prompt states how many messages and calls it does not show. The metrics over trajectories are in
//! `dsrs_metrics::metrics`.

mod calls;
mod compare;
mod from_json;
mod loops;
mod message;
mod read;
mod steps;

pub use calls::{Condition, ToolCalls};
pub use compare::{
    ArgsFunction, ArgsRule, ArgsRules, CallCounts, CallOrder, MatchMode, TooManyCalls,
    ToolCorrectnessOptions, TrajectoryDifference, UnmatchedCalls,
};
pub use from_json::{ExpectedTrajectory, TrajectoryError};
pub use loops::{CallLoop, LoopLimits};
pub use message::{Message, Role, TokenUsage, ToolCall};
pub use steps::{Subagent, SubagentTrajectory, Trajectory};
