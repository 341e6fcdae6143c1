//! Budgets of steps, tool calls and tokens.

use crate::metric;
use crate::metrics::explained::trajectories::with_malformed_args;
use crate::trajectory::Trajectory;

/// Whether the agent took at most `max` steps: messages of the agent, or calls of a trace or a list.
///
/// As `MaxModelRequests` of [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/), and `steps_within` of mira.
///
/// ```
/// use dsrs_metrics::metrics::WithinSteps;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "trajectory" => ["search", "book", "pay"].map(ToolCall::new) };
/// let scored = WithinSteps::builder().max(2).build().score(&example! {}, &pred)?;
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some("3 steps, at most 2 allowed")));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max, _| spent(trajectory, Some(trajectory.steps() as u64), "step", max))]
pub fn within_steps(
    #[pred] trajectory: &Trajectory,
    /// The largest number of steps.
    #[param]
    max: u64,
) -> bool {
    trajectory.steps() as u64 <= max
}

/// Whether the agent made at most `max` tool calls, failed ones included.
///
/// As `MaxToolCalls` of [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/).
///
/// ```
/// use dsrs_metrics::metrics::WithinToolCalls;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "trajectory" => ["search", "book", "pay"].map(ToolCall::new) };
/// assert_eq!(WithinToolCalls::builder().max(3).build().score(&example! {}, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max, _| spent(trajectory, Some(trajectory.tool_calls().len() as u64), "tool call", max))]
pub fn within_tool_calls(
    #[pred] trajectory: &Trajectory,
    /// The largest number of tool calls.
    #[param]
    max: u64,
) -> bool {
    trajectory.tool_calls().len() as u64 <= max
}

/// Whether the agent's model used at most `max` tokens, of prompts and replies together.
///
/// The tokens are those of [`Trajectory::tokens`]: `final_metrics` of ATIF, or the sum of `usage` or `metrics` over the messages. A
/// trajectory without them fails the row. The metric `tokens` reads the usage of the program's run instead.
///
/// ```
/// use dsrs_metrics::metrics::WithinTokens;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let reply = json!({"role": "assistant", "content": "Paris", "usage": {"prompt_tokens": 120, "completion_tokens": 8}});
/// let metric = WithinTokens::builder().max(100).build();
/// let scored = metric.score(&example! {}, &prediction! { "trajectory" => [reply] })?;
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some("128 tokens, at most 100 allowed")));
///
/// let error = metric.score(&example! {}, &prediction! { "trajectory" => [ToolCall::new("search")] }).unwrap_err().to_string();
/// assert_eq!(error, "metric `within_tokens`: the trajectory has no tokens; add `usage` to its messages, or use the metric `tokens`");
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max, _| spent(trajectory, trajectory.tokens(), "token", max))]
pub fn within_tokens(
    #[pred] trajectory: &Trajectory,
    /// The largest number of tokens.
    #[param]
    max: u64,
) -> Result<bool, &'static str> {
    let tokens = trajectory.tokens().ok_or(
        "the trajectory has no tokens; add `usage` to its messages, or use the metric `tokens`",
    )?;
    Ok(tokens <= max)
}

fn spent(trajectory: &Trajectory, count: Option<u64>, noun: &str, max: u64) -> Option<String> {
    let spent = count.map(|count| {
        let nouns = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{nouns}, at most {max} allowed")
    });
    with_malformed_args(trajectory, spent)
}
