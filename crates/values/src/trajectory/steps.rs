//! A trajectory: the messages of an agent, grouped into steps, and the trajectories of its subagents.

use serde::{Serialize, Serializer};

use super::calls::ToolCalls;
use super::message::{Message, Role, TokenUsage, ToolCall};

/// What an agent did: its messages and tool calls, in order.
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
    /// The tokens of the whole trajectory, if the format has them.
    pub(super) total: Option<TokenUsage>,
    pub(super) subagents: Vec<Subagent>,
}

impl Trajectory {
    /// Creates a trajectory from these messages.
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        Self {
            messages: messages.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Creates a trajectory from calls, each a separate step.
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

    /// Returns the messages, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the calls of all messages, in order.
    pub fn tool_calls(&self) -> ToolCalls<'_> {
        self.messages
            .iter()
            .flat_map(|message| &message.tool_calls)
            .collect()
    }

    /// Returns the subagents of an ATIF trajectory, without duplicates. Subagents that results refer to come first, in
    /// the order of the results, followed by all others. No other method counts their messages and calls.
    pub fn subagents(&self) -> &[Subagent] {
        &self.subagents
    }

    /// Returns the number of steps. Each agent message is a step; in a trace or a list of calls or names, each call is
    /// a step.
    pub fn steps(&self) -> usize {
        self.messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count()
    }

    /// Returns the number of tokens that the agent's model used. This is the total stated by the format (ATIF's
    /// `final_metrics`) or, if there is none, the sum over the messages. Returns `None` if the format does not record
    /// tokens.
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
        let sum = |mut sum: TokenUsage, usage| {
            sum += usage;
            sum
        };
        let of_messages = self
            .messages
            .iter()
            .filter_map(|message| message.usage)
            .reduce(sum);
        self.total.or(of_messages).map(TokenUsage::tokens)
    }
}

/// Messages as OpenAI has them, but with the result of a call in the call.
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

        let Self {
            messages,
            total: usage,
            subagents,
        } = self;
        match (usage, &**subagents) {
            (None, []) => messages.serialize(serializer),
            _ => Whole {
                messages,
                usage: *usage,
                subagents,
            }
            .serialize(serializer),
        }
    }
}

/// A subagent whose trajectory a [`Trajectory`] refers to. Its messages and calls don't belong to the agent, so no
/// method of the agent's trajectory counts them.
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
    /// The id of the call whose result refers to the subagent, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The trajectory, or where to find it.
    #[serde(flatten)]
    pub trajectory: SubagentTrajectory,
}

/// The trajectory of a [`Subagent`], or where to find it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SubagentTrajectory {
    /// The trajectory is part of the document.
    Embedded(#[serde(serialize_with = "as_trajectory")] Trajectory),
    /// The trajectory is in another document, which is not read.
    External {
        /// The path or, in documents up to ATIF 1.6, possibly `session` and the id of the session.
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
