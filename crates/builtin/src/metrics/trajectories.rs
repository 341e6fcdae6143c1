//! Metrics for agents' trajectories: `gold.trajectory` and `pred.trajectory`, in any form that [`Trajectory`] reads.
//!
//! `docs/metrics.md` lists how they differ from their references.
//!
//! The file is long because each metric has its rules, a reference and an example. The code itself is short.

use std::num::NonZeroUsize;

use serde_json::Value;

use crate::contract::Scores;
use crate::messages::escape::{name, truncate};
use crate::metric;
use crate::metrics::explained::{MAX_ITEMS, counted, joined, more};
use crate::trajectory::{
    ArgsRule, ArgsRules, CallCounts, CallLoop, CallOrder, ExpectedTrajectory, LoopLimits,
    MatchMode, TooManyCalls, ToolCall, ToolCalls, ToolCorrectnessOptions, Trajectory,
    TrajectoryDifference, UnmatchedCalls,
};

/// Passes if the agent's tool calls match the expected ones.
///
/// The `mode` determines how calls are compared:
///
/// - `strict`: the same number of messages with the same roles, and the same calls in the same order in each message.
/// - `ordered`: the same calls in the same order. The calls can be spread over messages in a different way.
/// - `unordered`: the same calls in any order.
/// - `subset`: every call that the agent made is expected.
/// - `superset`: the agent made every expected call.
///
/// A call matches an expected call if the tool is the same and the arguments match.
///
/// The parameter `args` sets the rule for arguments: `exact`, `ignore`, `subset` (each argument is expected) or
/// `superset` (each expected argument is present). The rule can also be a list of paths whose values must be equal.
///
/// To set a rule for each tool, pass an object from tool to rule, where `*` is the rule for all other tools. In code, a
/// rule can also be a function.
///
/// The rules for arguments mean the same in every mode, including `subset`. Arguments are compared as JSON, so 1 equals
/// 1.0, but `true` does not equal 1.
///
/// Texts and results are not compared.
///
/// In the modes `unordered`, `subset` and `superset`, each call is paired with at most one expected call. The metric
/// pairs as many calls as possible.
///
/// The modes and rules come from [agentevals](https://github.com/langchain-ai/agentevals), which has no `ordered` mode.
/// It pairs calls greedily, so it can miss a match. The module documentation lists the other differences.
///
/// ```
/// use dsrs_metrics::metrics::TrajectoryMatch;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::trajectory::{ArgsRule, MatchMode};
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "trajectory" => [json!({"name": "book", "args": {"city": "Rome"}})] };
/// let pred = prediction! { "trajectory" => [
///     json!({"name": "search", "args": {}}),
///     json!({"name": "book", "args": {"city": "Rome", "nights": 2}}),
/// ] };
/// let superset = || TrajectoryMatch::builder().mode(MatchMode::Superset);
/// let scored = superset().build().score(&gold, &pred)?;
/// let details = r#"missing: `book({"city":"Rome"})`; extra: `book({"city":"Rome","nights":2})`"#;
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some(details)));
/// assert_eq!(superset().args(ArgsRule::Superset).build().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |called, expected, mode, args, _| {
    explain_difference(called, expected, &[mode], args)
})]
pub fn trajectory_match(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
    /// How the calls match: `strict`, `ordered`, `unordered`, `subset` or `superset`.
    #[param(default = MatchMode::Strict)]
    mode: MatchMode,
    /// How arguments match: `exact`, `ignore`, `subset`, `superset`, a list of paths, or an object from tool to one of these.
    #[param(default, into)]
    args: &ArgsRules,
) -> Result<bool, TooManyCalls> {
    Ok(mode.difference(trajectory, expected, args)?.is_none())
}

/// Computes the F1 of the agent's tool calls.
///
/// Calls are compared by name and arguments, in any order. Arguments are compared as JSON.
///
/// The score is in [0, 1]. The metric also reports precision and recall.
///
/// The formulas are precision = common / called, recall = common / expected, and F1 = 2 common / (called + expected).
/// `common` is the number of calls that both sides share, including repeated calls.
///
/// If neither side has calls, all three scores are 1.
///
/// This metric is based on `ToolCallF1` in [ragas](https://github.com/vibrantlabsai/ragas). ragas ignores repeated
/// calls, rounds to four digits, and scores 0 if there are no calls.
///
/// ```
/// use dsrs_metrics::metrics::ToolCallF1;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let weather = |city: &str| json!({"name": "weather", "args": {"city": city}});
/// let gold = example! { "trajectory" => [weather("Rome"), weather("Oslo")] };
/// let pred = prediction! { "trajectory" => [weather("Rome"), weather("Rome")] };
/// assert_eq!(ToolCallF1.score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |called, expected, _| {
    explain_difference(called, expected, &[MatchMode::Unordered], &ArgsRules::default())
})]
pub fn tool_call_f1(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
) -> Scores {
    let (called, expected) = (trajectory.tool_calls(), expected.tool_calls());
    scores(CallCounts::in_any_order(&called, &expected, true))
}

/// Computes the F1 of the tools that the agent called.
///
/// Tools are compared by name. The score is in [0, 1]. The metric also reports precision and recall.
///
/// F1 is 2 common / (called + expected). With `in_order`, `common` is the length of the longest common subsequence.
/// With `any`, the names can be in any order.
///
/// With `exact`, the score is 1 if the names are the same and in the same order, and 0 otherwise. If neither side has
/// calls, the score is 1.
///
/// This metric is based on `TrajectoryMatch` in [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/),
/// which leaves out calls that failed.
///
/// ```
/// use dsrs_metrics::metrics::TrajectoryF1;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "trajectory" => ["search", "book", "pay"] };
/// let pred = prediction! { "trajectory" => ["search", "pay", "book"].map(ToolCall::new) };
/// assert_eq!(TrajectoryF1.score(&gold, &pred)?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |called, expected, order, _| {
    let modes: &[MatchMode] = match order {
        CallOrder::Any => &[MatchMode::Unordered],
        _ => &[MatchMode::Unordered, MatchMode::Ordered],
    };
    explain_difference(called, expected, modes, &ArgsRule::Ignore.into())
})]
pub fn trajectory_f1(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
    /// The order in which the calls must match: `in_order`, `any` or `exact`.
    #[param(default = CallOrder::InOrder)]
    order: CallOrder,
) -> Result<Scores, TooManyCalls> {
    ordered_counts(trajectory, expected, order).map(scores)
}

/// Scores how well the agent made each expected tool call.
///
/// The score is in [0, 1]. Extra calls do not lower it.
///
/// Each expected call is paired with at most one call to the same tool, and each pair has a weight. The metric chooses
/// the pairs with the largest total weight. The score is this total, divided by the number of expected calls.
///
/// By default, the weight of a pair is 1. If you set `arguments`, it is the fraction of arguments that are equal, out
/// of all keys of both calls. Nested objects are compared key by key.
///
/// If you set `outputs`, the weight is 0 if the results differ.
///
/// With `in_order`, the paired calls must be in the order of the expected calls. With `exact`, the score is 1 if all
/// calls are equal and in the same order, and 0 otherwise.
///
/// If no call is expected, the score is 1 if the agent made no call, and 0 otherwise.
///
/// This metric is based on `ToolCorrectnessMetric` in [deepeval](https://github.com/confident-ai/deepeval), without its
/// judge for available tools. deepeval pairs calls greedily, and pairs only one of several equal calls.
///
/// ```
/// use dsrs_metrics::metrics::ToolCorrectness;
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "trajectory" => [json!({"name": "book", "args": {"city": "Rome", "nights": 2}})] };
/// let pred = prediction! { "trajectory" => [json!({"name": "book", "args": {"city": "Rome", "nights": 3}}), json!({"name": "pay"})] };
/// assert_eq!(ToolCorrectness.score(&gold, &pred)?.value, 1.0);
/// assert_eq!(ToolCorrectness::builder().arguments(true).build().score(&gold, &pred)?.value, 0.5);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |called, expected, order, arguments, _, score| {
    // Extra calls don't lower the score.
    let modes: &[MatchMode] = match order {
        _ if score == 1.0 => &[],
        CallOrder::Any if !expected.tool_calls().is_empty() => &[MatchMode::Superset],
        CallOrder::InOrder => &[MatchMode::Superset, MatchMode::Ordered],
        _ => &[MatchMode::Ordered],
    };
    let rule = if arguments { ArgsRule::Exact } else { ArgsRule::Ignore };
    let difference = explain_difference(called, expected, modes, &rule.into());
    difference.or_else(|| (score < 1.0).then(|| "the results differ".to_owned()))
})]
pub fn tool_correctness(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
    /// The order in which the calls must be made: `any`, `in_order` or `exact`.
    #[param(default = CallOrder::Any)]
    order: CallOrder,
    /// `true` to compare arguments.
    #[param(default = false)]
    arguments: bool,
    /// `true` to compare results.
    #[param(default = false)]
    outputs: bool,
) -> Result<f64, TooManyCalls> {
    ToolCorrectnessOptions {
        order,
        arguments,
        outputs,
    }
    .score(trajectory, expected)
}

fn scores(counts: CallCounts) -> Scores {
    Scores::new("f1", counts.f1())
        .with("precision", counts.precision())
        .with("recall", counts.recall())
}

fn ordered_counts(
    called: &Trajectory,
    expected: &Trajectory,
    order: CallOrder,
) -> Result<CallCounts, TooManyCalls> {
    let (called, expected) = (called.tool_calls(), expected.tool_calls());
    match order {
        CallOrder::Any => Ok(CallCounts::in_any_order(&called, &expected, false)),
        CallOrder::InOrder => CallCounts::in_order(&called, &expected),
        _ => {
            let is_same = called.names() == expected.names();
            let common = if is_same { called.len() } else { 0 };
            Ok(CallCounts {
                common,
                called: called.len(),
                expected: expected.len(),
            })
        }
    }
}

/// Passes if the agent's tool calls contain no loop.
///
/// A loop is the same call made more than `max_same` times, or a cycle of several calls made more than `max_cycles`
/// times in a row.
///
/// Two calls are the same if their tools and arguments are equal. Arguments are compared as JSON. A cycle has 2 to 100
/// calls that repeat in the same order.
///
/// Calls to the tools in `allowed` do not count. For example, you can allow a tool that waits.
///
/// The limits come from `AgentLoopDetectionMetric` in [deepeval](https://github.com/confident-ai/deepeval), which
/// counts the third equal call as a loop. deepeval compares arguments as Python strings (1 is "1"), and does not look
/// for cycles of calls.
///
/// ```
/// use dsrs_metrics::metrics::NoLoops;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let pred = prediction! { "trajectory" => ["read", "test", "read", "test", "read", "test"].map(ToolCall::new) };
/// let scored = NoLoops::default().score(&example! {}, &pred)?;
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some("3 times in a row starting with call 1: `read()`, `test()`")));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max_same, max_cycles, allowed, _| {
    let limits = LoopLimits { max_same, max_cycles };
    let found = limits.find(&counted_calls(trajectory, allowed));
    explain_with_malformed_args(trajectory, found.map(|found| explain_call_loop(&found)))
})]
pub fn no_loops(
    #[pred] trajectory: &Trajectory,
    /// The maximum number of times that the same call can be made.
    #[param(default = LoopLimits::default().max_same)]
    max_same: NonZeroUsize,
    /// The maximum number of times in a row that a cycle of two or more calls can be made.
    #[param(default = LoopLimits::default().max_cycles)]
    max_cycles: NonZeroUsize,
    /// The tools whose calls do not count.
    #[param(default = &[])]
    allowed: &[String],
) -> bool {
    LoopLimits {
        max_same,
        max_cycles,
    }
    .find(&counted_calls(trajectory, allowed))
    .is_none()
}

fn counted_calls<'t>(trajectory: &'t Trajectory, allowed: &[String]) -> ToolCalls<'t> {
    let is_counted = |call: &&ToolCall| !allowed.contains(&call.name);
    trajectory.tool_calls().iter().filter(is_counted).collect()
}

/// Passes if the agent took at most `max` steps.
///
/// A step is an agent message. In a trace or a list of calls, each call is a step.
///
/// This metric is equivalent to `MaxModelRequests` in
/// [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/), and to `steps_within` in mira.
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
    /// The maximum number of steps.
    #[param]
    max: u64,
) -> bool {
    trajectory.steps() as u64 <= max
}

/// Passes if the agent made at most `max` tool calls, including failed calls.
///
/// This metric is equivalent to `MaxToolCalls` in [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/).
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
    /// The maximum number of tool calls.
    #[param]
    max: u64,
) -> bool {
    trajectory.tool_calls().len() as u64 <= max
}

/// Passes if the agent's model used at most `max` tokens.
///
/// Both prompt tokens and reply tokens count.
///
/// The number of tokens comes from [`Trajectory::tokens`]. It is the total in ATIF's `final_metrics`, or the sum of
/// `usage` or `metrics` over the messages. A row fails if its trajectory has no token counts.
///
/// To read the usage of the program's run instead, use the `tokens` metric.
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
/// assert_eq!(error, "metric `within_tokens`: the trajectory has no token counts; add `usage` to its messages, or use the `tokens` metric");
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |trajectory, max, _| spent(trajectory, trajectory.tokens(), "token", max))]
pub fn within_tokens(
    #[pred] trajectory: &Trajectory,
    /// The maximum number of tokens.
    #[param]
    max: u64,
) -> Result<bool, &'static str> {
    let tokens = trajectory.tokens().ok_or(
        "the trajectory has no token counts; add `usage` to its messages, or use the `tokens` metric",
    )?;
    Ok(tokens <= max)
}

fn spent(trajectory: &Trajectory, count: Option<u64>, noun: &str, max: u64) -> Option<String> {
    let spent = count.map(|count| {
        let nouns = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{nouns}, at most {max} allowed")
    });
    explain_with_malformed_args(trajectory, spent)
}

/// The maximum length of an explanation, in bytes.
const MAX_BYTES: usize = 2000;

fn bounded(mut text: String) -> String {
    truncate(&mut text, MAX_BYTES);
    text
}

/// Adds the calls with malformed arguments to an explanation.
fn explain_with_malformed_args(called: &Trajectory, explanation: Option<String>) -> Option<String> {
    let malformed: Vec<String> = called.malformed_args().collect();
    let shown = malformed[..malformed.len().min(MAX_ITEMS)].join("; ");
    let shown = more(shown, malformed.len());
    Some(joined([explanation.unwrap_or_default(), shown])).filter(|it| !it.is_empty())
}

/// Describes why a trajectory does not match, using the first mode that finds a difference. Also describes malformed
/// arguments.
fn explain_difference(
    called: &Trajectory,
    expected: &Trajectory,
    modes: &[MatchMode],
    rules: &ArgsRules,
) -> Option<String> {
    let mut modes = modes.iter();
    let difference = modes.find_map(|mode| mode.difference(called, expected, rules).ok()?);
    explain_with_malformed_args(called, difference.map(|it| describe(&it)))
}

fn describe(difference: &TrajectoryDifference<'_>) -> String {
    match difference {
        TrajectoryDifference::Messages { called, expected } => {
            format!("{}, expected {expected}", counted(*called, "message"))
        }
        TrajectoryDifference::Role {
            message,
            called,
            expected,
        } => {
            let [expected, called] = [expected, called].map(|role| role.as_str());
            format!("message {message}: expected the role `{expected}`, found `{called}`")
        }
        TrajectoryDifference::Call {
            message,
            call,
            called,
            expected,
        } => {
            let place = match message {
                Some(message) => format!("call {call} of message {message}"),
                None => format!("call {call}"),
            };
            let [expected, called] =
                [expected, called].map(|call| call.map_or_else(|| "no call".to_owned(), written));
            bounded(format!("{place}: expected {expected}, found {called}"))
        }
        TrajectoryDifference::Unmatched(calls) => unmatched(calls),
        _ => String::new(),
    }
}

fn unmatched(calls: &UnmatchedCalls<'_>) -> String {
    let list = |label: &str, calls: &[&ToolCall]| match calls {
        [] => String::new(),
        calls => format!("{label}: {}", listed(calls)),
    };
    bounded(joined([
        list("missing", &calls.missing),
        list("extra", &calls.extra),
    ]))
}

fn listed(calls: &[&ToolCall]) -> String {
    let shown: Vec<String> = calls.iter().take(MAX_ITEMS).map(|it| written(it)).collect();
    more(shown.join(", "), calls.len())
}

/// Writes a call with its arguments, as in `` `book({"city":"Rome"})` ``.
fn written(call: &ToolCall) -> String {
    let args = match &call.args {
        Value::Object(args) if args.is_empty() => String::new(),
        args => {
            let mut args = args.clone();
            // If the keys weren't sorted, their order would depend on how the library was built.
            args.sort_all_objects();
            args.to_string()
        }
    };
    format!("`{}({})`", name(&call.name), name(&args))
}

fn explain_call_loop(found: &CallLoop<'_>) -> String {
    let (times, first) = (found.times, found.first);
    let count = match found.calls.len() {
        1 => format!("{times} times, the first as call {first}"),
        _ => format!("{times} times in a row starting with call {first}"),
    };
    bounded(format!("{count}: {}", listed(&found.calls)))
}
