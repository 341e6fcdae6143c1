//! Shares of the expected calls that were made.

use crate::core::score::Scores;
use crate::metric;
use crate::metrics::explained::trajectories as explained;
use crate::trajectory::{
    CallCounts, CallOrder, ExpectedTrajectory, TooManyCalls, ToolCorrectnessOptions, Trajectory,
};

/// F1 of the tool calls, by name and arguments, in any order; in [0, 1], with precision and recall.
///
/// With the number of calls in common, each counted as often as it is on both sides: precision = common / called, recall = common /
/// expected, F1 = 2 common / (called + expected). Without any call on both sides all three are 1. Arguments are compared as JSON.
///
/// The definition is `ToolCallF1` of [ragas](https://github.com/vibrantlabsai/ragas) over multisets: ragas compares sets, so that
/// repeated calls do not count, rounds to four digits, and scores 0 if there are no calls.
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
    explained::with_malformed_args(called, Some(explained::tool_call_f1(called, expected)))
})]
pub fn tool_call_f1(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
) -> Scores {
    scores(CallCounts::in_any_order(
        &trajectory.tool_calls(),
        &expected.tool_calls(),
        true,
    ))
}

/// F1 of the names of the called tools, in [0, 1], with precision and recall.
///
/// F1 = 2 common / (called + expected). In the order `in_order`, the calls in common are a longest common subsequence; in `any`, the overlap
/// of multisets; `exact` is 1 for the same names in the same order and 0 otherwise. Without any call on both sides the score is 1. The
/// definition is `TrajectoryMatch` of [pydantic-evals](https://ai.pydantic.dev/evals/evaluators/agentic/), which leaves out calls that
/// failed.
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
    let counts = ordered_counts(called, expected, order).ok();
    let counts = counts.map(|counts| explained::trajectory_f1(counts, called, expected));
    explained::with_malformed_args(called, counts)
})]
pub fn trajectory_f1(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
    /// The order of the calls in common: `in_order`, `any` or `exact`.
    #[param(default = CallOrder::InOrder)]
    order: CallOrder,
) -> Result<Scores, TooManyCalls> {
    ordered_counts(trajectory, expected, order).map(scores)
}

/// How well each expected call was made, in [0, 1]; calls beyond the expected ones cost nothing.
///
/// Each expected call is assigned at most one call of the same tool, such that the sum of their weights is largest, and the score is the
/// sum divided by the number of expected calls. The weight of a pair is 1; with `arguments`, it is the share of the arguments that
/// are equal, over the keys of both, where objects are compared key by key; with `outputs`, it is 0 if the results differ. In the order
/// `in_order`, the assigned calls are in the order of the expected ones (a heaviest common subsequence); `exact` is 1 if all calls are equal
/// in the same order, and otherwise 0. Without expected calls the score is 1 if the trajectory has no calls, and 0 if it has some.
///
/// The definition is `ToolCorrectnessMetric` of [deepeval](https://github.com/confident-ai/deepeval) without its judge of available
/// tools. deepeval assigns greedily, and a call that is equal to an assigned one is not assigned.
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
#[metric(range = 0.0..=1.0, missing = 0.0, explain = |called, expected, order, arguments, outputs, score| {
    let options = ToolCorrectnessOptions { order, arguments, outputs };
    let difference = (score < 1.0).then(|| explained::tool_correctness(called, expected, options));
    explained::with_malformed_args(called, difference)
})]
pub fn tool_correctness(
    #[pred] trajectory: &Trajectory,
    #[gold("trajectory")] expected: &ExpectedTrajectory,
    /// The order of the calls: `any`, `in_order` or `exact`.
    #[param(default = CallOrder::Any)]
    order: CallOrder,
    /// Whether arguments are compared.
    #[param(default = false)]
    arguments: bool,
    /// Whether results are compared.
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
