//! Trajectories of agents: messages, tool calls and their results, read from common formats and compared.
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
//! A string that contains one of these forms as JSON is read too. The result of a call is the text of the tool's
//! message or, in other forms, the JSON value. Arguments that are not a JSON object are left as the model wrote them,
//! and do not equal any arguments; [`Trajectory::malformed_args`] describes them. Other mistakes are errors that name
//! the message: unknown roles, unknown keys of a call, unknown types of blocks, and results whose id does not belong to
//! any earlier call. In messages without ids, a result belongs to the first call without a result in the last message
//! with calls. [`Trajectory::subagents`] returns the trajectories of subagents that an ATIF document embeds, and the
//! paths of those in other documents, which are not read. None of the library's metrics counts subagents; a judge's
//! prompt states how many of their messages and calls it does not show. The metrics over trajectories are in
//! `dsrs_metrics::metrics`.

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
