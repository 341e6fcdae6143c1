//! Whether a trajectory is the expected one.

use crate::metric;
use crate::metrics::explained::trajectories as explained;
use crate::trajectory::{ArgsRules, ExpectedTrajectory, MatchMode, TooManyCalls, Trajectory};

/// Whether the agent's tool calls match the expected ones, by one of five modes.
///
/// - `strict`: as many messages, of the same roles, and in each the same calls in the same order;
/// - `ordered`: the same calls in the same order, however they are distributed over messages;
/// - `unordered`: the same calls in any order;
/// - `subset`: each call is expected;
/// - `superset`: each expected call was made.
///
/// A call matches an expected one if the tool is the same and the arguments match by the rule of `args`: `exact`, `ignore`, `subset`
/// (each argument is expected), `superset` (each expected argument is there), a list of paths whose values are equal, or an object from
/// tool to rule, where `*` is the rule for the others. In code, a rule may be a function. The mode `subset` does not
/// reverse the rules. Arguments are compared as JSON: 1 equals 1.0, and `true` is not 1. Texts and results do not count.
///
/// In the last three modes each call is the partner of at most one expected call, and as many as possible have a partner: a maximum
/// matching. The modes and rules are those of [agentevals](https://github.com/langchain-ai/agentevals) (`ordered` is not in it), whose
/// greedy matching can miss a match; the other differences are listed at the module.
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
/// assert_eq!((scored.value, scored.details.as_deref()), (0.0, Some("`book`: argument `nights`: expected none, found the number 2")));
/// assert_eq!(superset().args(ArgsRule::Superset).build().score(&gold, &pred)?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = |called, expected, mode, args, _| {
    let difference = mode.difference(called, expected, args).ok().flatten();
    let difference = difference.map(|difference| explained::difference(&difference, args));
    explained::with_malformed_args(called, difference)
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
