//! Agent trajectories, with their messages, tool calls and results.
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
//! - Unknown keys in a call.
//! - Unknown block types.
//! - Results whose id does not belong to any earlier call.
//!
//! [`Trajectory::subagents`] returns the trajectories of subagents that an ATIF document embeds. For a trajectory in
//! another document, it returns the path without reading the document.
//!
//! None of the library's metrics counts subagents. A judge's prompt states how many of their messages and calls are not
//! shown.
//!
//! For metrics that score trajectories, see `dsrs_metrics::metrics`.
//!
//! The file is long because each part of a trajectory is documented with an example.

mod calls;
mod compare;
mod read;

pub use self::calls::{Condition, ToolCalls};
pub use self::compare::{
    ArgsFunction, ArgsRule, ArgsRules, CallCounts, CallLoop, CallOrder, LoopLimits, MatchMode,
    TooManyCalls, ToolCorrectnessOptions, TrajectoryDifference, UnmatchedCalls,
};
pub use self::read::{ExpectedTrajectory, TrajectoryError};

use std::ops::AddAssign;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// An agent's messages and tool calls, in order.
///
/// ```
/// use dsrs_metrics::metrics::Check;
/// use dsrs_metrics::prelude::*;
///
/// /// The refund is looked up before it is made, with the invoice of the request.
/// #[metric]
/// fn refund_flow(#[gold] invoice: &str, #[pred] steps: &Trajectory) -> Check {
///     let calls = steps.tool_calls();
///     Check::all([
///         calls.in_order(["lookup_invoice", "create_refund"]),
///         calls.named("create_refund").any(|call| call.args["invoice"] == invoice),
///         calls.none_failed(),
///     ])
/// }
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "invoice" => "A-7" };
/// let steps = |invoice: &str| serde_json::json!([
///     {"role": "assistant", "content": null, "tool_calls": [
///         {"id": "1", "type": "function", "function": {"name": "lookup_invoice", "arguments": "{}"}}]},
///     {"role": "tool", "tool_call_id": "1", "content": "40 euros"},
///     {"role": "assistant", "content": null, "tool_calls": [
///         {"id": "2", "type": "function", "function": {
///             "name": "create_refund", "arguments": format!("{{\"invoice\": \"{invoice}\"}}")}}]},
///     {"role": "tool", "tool_call_id": "2", "content": "done"},
/// ]);
/// assert_eq!(RefundFlow.score(&gold, &prediction! { "steps" => steps("A-7") })?.value, 1.0);
///
/// let (pred, call_of) = (prediction! { "steps" => steps("B-1") }, MetricCall::new);
/// let scored = RefundFlow.answer(call_of(&gold, &pred)).ready().expect("it is synchronous")?;
/// assert_eq!(scored.feedback().as_deref(), Some("none of 1 call of `create_refund` meets the condition"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trajectory {
    pub(super) messages: Vec<Message>,
    /// The tokens of the whole trajectory, if the format records them.
    pub(super) total: Option<TokenUsage>,
    pub(super) subagents: Vec<Subagent>,
}

impl Trajectory {
    /// Creates a trajectory from a list of messages.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Creates a trajectory from a list of tool calls.
    ///
    /// Each call is a separate step.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let trajectory = Trajectory::of_calls([ToolCall::new("search"), ToolCall::new("book")]);
    /// assert_eq!((trajectory.steps(), trajectory.tool_calls().len()), (2, 2));
    /// ```
    pub fn of_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::new(calls.into_iter().map(|call| Message::calling([call])))
    }

    /// Returns the messages of the trajectory, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the tool calls of all messages, in order.
    pub fn tool_calls(&self) -> ToolCalls<'_> {
        let messages = self.messages.iter();
        messages.flat_map(|message| &message.tool_calls).collect()
    }

    /// Returns the subagents of an ATIF trajectory, without duplicates.
    ///
    /// Subagents that results refer to come first, in the order of the results. All others follow.
    ///
    /// The other methods of a trajectory do not count the messages and calls of subagents.
    pub fn subagents(&self) -> &[Subagent] {
        &self.subagents
    }

    /// Returns the number of steps in the trajectory.
    ///
    /// Each agent message is a step. In a trace, or a list of calls or names, each call is a step.
    pub fn steps(&self) -> usize {
        let is_step = |message: &&Message| message.role == Role::Assistant;
        self.messages.iter().filter(is_step).count()
    }

    /// Returns the number of tokens that the agent's model used.
    ///
    /// This is the total stated by the format (ATIF's `final_metrics`). If the format states no total, the tokens in
    /// all messages are added up. Returns `None` if the format does not record tokens.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let trajectory: Trajectory = serde_json::from_str(r#"[
    ///     {"role": "user", "content": "Hello"},
    ///     {"role": "assistant", "content": "Good day", "usage": {"prompt_tokens": 12, "completion_tokens": 3}}
    /// ]"#)?;
    /// assert_eq!(trajectory.tokens(), Some(15));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn tokens(&self) -> Option<u64> {
        let usages = self.messages.iter().filter_map(|message| message.usage);
        let of_messages = usages.map(TokenUsage::tokens).reduce(u64::saturating_add);
        self.total.map(TokenUsage::tokens).or(of_messages)
    }
}

/// Writes messages in OpenAI's form, but puts a call's result into the call.
impl Serialize for Trajectory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'t> {
            messages: &'t [Message],
            #[serde(skip_serializing_if = "Option::is_none")]
            usage: Option<TokenUsage>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            subagents: &'t [Subagent],
        }

        if self.total.is_none() && self.subagents.is_empty() {
            return self.messages.serialize(serializer);
        }
        let whole = Whole {
            messages: &self.messages,
            usage: self.total,
            subagents: &self.subagents,
        };
        whole.serialize(serializer)
    }
}

/// A subagent that appears in a [`Trajectory`].
///
/// The messages and calls of a subagent don't belong to the agent, so the agent's trajectory does not count them.
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
/// let SubagentTrajectory::Embedded { trajectory: of_subagent } = &subagent.trajectory else { unreachable!() };
/// assert_eq!(of_subagent.tool_calls().names(), ["search"]);
/// # Ok::<(), dsrs_metrics::trajectory::TrajectoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subagent {
    /// The id of the call whose result refers to the subagent.
    ///
    /// `None` if there is no such call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The subagent's trajectory, or where to find it.
    #[serde(flatten)]
    pub trajectory: SubagentTrajectory,
}

/// The trajectory of a [`Subagent`], or where to find it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected either `trajectory` or `path`")]
pub enum SubagentTrajectory {
    /// The trajectory is part of the same document.
    Embedded {
        /// The trajectory.
        trajectory: Trajectory,
    },
    /// The trajectory is in another document, which is not read.
    External {
        /// The path. In documents up to ATIF 1.6, this can also be `session` and the session's id.
        path: String,
    },
}

/// The author of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The system, which gives instructions to the agent.
    ///
    /// OpenAI's role `developer` is read as this role.
    System,
    /// The user who talks to the agent.
    User,
    /// The agent.
    Assistant,
    /// A tool, which returns the result of a call.
    Tool,
}

impl Role {
    /// Returns the role's name, as written in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A message in a [`Trajectory`], such as an agent's step.
///
/// For a message in a prompt, see `dsrs_metrics::lm::Message`.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::Role;
///
/// let trajectory: Trajectory = serde_json::from_str(r#"[
///     {"role": "user", "content": "Is it sunny?"},
///     {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "name": "weather", "args": {"city": "Rome"}}]},
///     {"role": "tool", "tool_call_id": "a", "content": "21 C"}
/// ]"#)?;
/// let [question, reply, result] = trajectory.messages() else { unreachable!() };
/// assert_eq!((question.role, &*question.text), (Role::User, "Is it sunny?"));
/// assert_eq!(reply.tool_calls[0].result, Some("21 C".into()));
/// assert_eq!((result.role, &*result.text), (Role::Tool, "21 C"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// The author of the message.
    pub role: Role,
    /// The text of the message, without images or reasoning.
    #[serde(rename = "content")]
    pub text: String,
    /// The tool calls in the message, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The id of the tool call that this message responds to.
    ///
    /// This field is only set for messages from tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The number of tokens used by the model call that returned this message.
    ///
    /// `None` if the format does not record tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

impl Message {
    /// Creates a message with the given text and without tool calls.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::trajectory::Role;
    ///
    /// assert_eq!(Message::new(Role::User, "Is it sunny?").tool_calls, []);
    /// ```
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            role,
            text,
            tool_calls: Vec::new(),
            tool_call_id: None,
            usage: None,
        }
    }

    /// Creates an agent message that has tool calls but no text.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let message = Message::calling([ToolCall::new("weather")]);
    /// assert_eq!(Trajectory::new([message]).tool_calls().len(), 1);
    /// ```
    pub fn calling(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self {
            tool_calls: calls.into_iter().collect(),
            ..Self::new(Role::Assistant, "")
        }
    }
}

/// A call to a tool.
///
/// A call consists of the tool's name, the arguments and, if known, the result.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// let call = ToolCall::new("refund").with_args(json!({ "invoice": "A-7", "euros": 40 }));
/// assert_eq!(call.args["invoice"], "A-7");
/// assert_eq!(call.args["currency"], json!(null)); // there is none
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCall {
    /// The id of the call, which tool messages refer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the tool that is called.
    pub name: String,
    /// The arguments of the call, or `{}` if there are none.
    ///
    /// If the format stores the arguments as a string, the string is parsed. A string that isn't a JSON object is kept
    /// unchanged and never matches expected arguments.
    pub args: Value,
    /// The result of the call.
    ///
    /// In most formats, the result is a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// `true` if the call is recorded as failed.
    ///
    /// A failure is recorded as `is_error`, `failed`, an `error`, or the status `error`. OpenAI's messages don't record
    /// failures unless the agent adds one of these markers to the tool messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl ToolCall {
    /// Creates a call to a tool, without arguments or a result.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// assert_eq!(ToolCall::new("list_files").args, serde_json::json!({}));
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        let args = Value::Object(Map::new());
        Self {
            id: None,
            name: name.into(),
            args,
            result: None,
            failed: false,
        }
    }

    setters! {
        /// Sets the arguments of the call.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let call = ToolCall::new("search").with_args(serde_json::json!({ "query": "Rome" }));
        /// assert_eq!(call.args["query"], "Rome");
        /// ```
        pub fn with_args(args: Value) => args = args;

        /// Sets the result of the call.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// assert_eq!(ToolCall::new("weather").with_result("21 C").result, Some("21 C".into()));
        /// ```
        pub fn with_result(result: impl Into<Value>) => result = Some(result.into());
    }
}

/// The number of tokens used by language model calls.
///
/// ```
/// use dsrs_metrics::trajectory::TokenUsage;
///
/// let usage = TokenUsage { input_tokens: 120, output_tokens: 8 };
/// assert_eq!(usage.tokens(), 128);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenUsage {
    /// The number of tokens in the prompts.
    ///
    /// This includes tokens that were read from the provider's cache.
    pub input_tokens: u64,
    /// The number of tokens in the replies.
    pub output_tokens: u64,
}

impl TokenUsage {
    /// Returns the total number of tokens in prompts and replies.
    pub const fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}
