//! The parts of a trajectory: messages, roles, tool calls, tokens.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The author of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions, including messages with OpenAI's `developer` role.
    System,
    /// The user who talks to the agent.
    User,
    /// The agent.
    Assistant,
    /// A tool. The message contains the result of a call.
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

/// One message of a [`Trajectory`](super::Trajectory), or one step of an agent.
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
    /// The text, without images or reasoning.
    #[serde(rename = "content")]
    pub text: String,
    /// The calls that the message contains, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call that a tool message responds to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tokens used by the model call that returned the message, if the format records them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

impl Message {
    /// Creates a message with this text and no calls.
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

    /// Creates an agent message with these calls and no text.
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

/// A tool call: the tool's name, the arguments and, if known, the result.
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
    /// The id that tool messages use to refer to the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The arguments, or `{}` if there are none. If the format stores them as a string, the string is parsed. If it
    /// isn't a JSON object, it is kept unchanged and never matches expected arguments.
    pub args: Value,
    /// The result, which is a string in most formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// `true` if the format records that the call failed: through `is_error`, `failed`, an `error`, or the status
    /// `error`. OpenAI's messages don't record failures unless the agent adds one of these to the tool messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl ToolCall {
    /// Creates a call without arguments or a result.
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
        /// Sets the arguments.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// let call = ToolCall::new("search").with_args(serde_json::json!({ "query": "Rome" }));
        /// assert_eq!(call.args["query"], "Rome");
        /// ```
        pub fn with_args(args: Value) => args = args;

        /// Sets the result.
        ///
        /// ```
        /// # use dsrs_metrics::prelude::*;
        /// assert_eq!(ToolCall::new("weather").with_result("21 C").result, Some("21 C".into()));
        /// ```
        pub fn with_result(result: impl Into<Value>) => result = Some(result.into());
    }
}

/// The tokens used by language model calls.
///
/// ```
/// use dsrs_metrics::trajectory::TokenUsage;
///
/// let usage = TokenUsage { input_tokens: 120, output_tokens: 8 };
/// assert_eq!(usage.tokens(), 128);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenUsage {
    /// The number of prompt tokens, including those read from the provider's cache.
    pub input_tokens: u64,
    /// The number of reply tokens.
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
