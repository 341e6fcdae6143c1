//! The modes for matching a trajectory against an expected one.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::keys::{Keys, Sides, grouped, sides, without_equal};
use super::{ArgsRule, ArgsRules, TooManyCalls};
use crate::bipartite::unmatched;
use crate::messages::escape::name;
use crate::trajectory::calls::ToolCalls;
use crate::trajectory::{Role, ToolCall, Trajectory};

/// How a trajectory is matched against an expected one.
///
/// The modes are those of agentevals' `trajectory_match_mode`, plus `ordered`.
///
/// Every strict match is also an ordered match, and every ordered match is also an unordered one. Every unordered match
/// is both a subset and a superset.
///
/// Message texts and call results are never compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatchMode {
    /// Both trajectories have the same roles and the same calls in each message.
    ///
    /// The number of messages must be the same. The calls of each message must be in the same order.
    #[default]
    Strict,
    /// Both trajectories have the same calls in the same order.
    ///
    /// The calls can be distributed differently over the messages.
    Ordered,
    /// Both trajectories have the same calls, in any order.
    Unordered,
    /// Every call is expected, but some expected calls can be missing.
    Subset,
    /// Every expected call was made, but other calls are allowed.
    Superset,
}

/// The reason why a trajectory does not match an expected one.
///
/// Messages and calls are numbered from 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryDifference<'t> {
    /// The two trajectories have different numbers of messages.
    Messages {
        /// The number of messages.
        called: usize,
        /// The number of expected messages.
        expected: usize,
    },
    /// A message has a different role than expected.
    Role {
        /// The number of the message.
        message: usize,
        /// The role of the message.
        called: Role,
        /// The expected role.
        expected: Role,
    },
    /// A call differs from the expected call.
    ///
    /// This is the first difference. If `called` or `expected` is `None`, that side has no more calls.
    Call {
        /// The number of the message, if calls are compared message by message.
        message: Option<usize>,
        /// The number of the call.
        call: usize,
        /// The call that was made.
        called: Option<&'t ToolCall>,
        /// The expected call.
        expected: Option<&'t ToolCall>,
    },
    /// Some calls have no matching call on the other side.
    ///
    /// For `subset`, only extra calls are a difference. Missing calls to the same tools are listed as their
    /// counterparts. For `superset`, only missing calls are a difference, and extra calls are their counterparts.
    ///
    /// The calls can be in any order.
    Unmatched(UnmatchedCalls<'t>),
}

impl MatchMode {
    /// Returns the reason a trajectory does not match the expected one, or `None` if it matches.
    ///
    /// # Errors
    /// Returns [`TooManyCalls`] if there are too many distinct calls to one tool. See [`UnmatchedCalls::new`] for the
    /// limit.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::trajectory::{ArgsRules, MatchMode};
    ///
    /// let [called, expected] = [["book", "search"], ["search", "book"]]
    ///     .map(|names| Trajectory::of_calls(names.map(ToolCall::new)));
    /// let rules = ArgsRules::default();
    /// assert_eq!(MatchMode::Unordered.difference(&called, &expected, &rules)?, None);
    /// assert!(MatchMode::Ordered.difference(&called, &expected, &rules)?.is_some());
    /// # Ok::<(), dsrs_metrics::trajectory::TooManyCalls>(())
    /// ```
    pub fn difference<'t>(
        self,
        called: &'t Trajectory,
        expected: &'t Trajectory,
        rules: &ArgsRules,
    ) -> Result<Option<TrajectoryDifference<'t>>, TooManyCalls> {
        let calls = || (called.tool_calls(), expected.tool_calls());
        let unmatched = || {
            let (called, expected) = calls();
            UnmatchedCalls::new(&called, &expected, rules)
        };
        let differing = |calls: UnmatchedCalls<'t>| {
            let is_match = calls.missing.is_empty() && calls.extra.is_empty();
            (!is_match).then_some(TrajectoryDifference::Unmatched(calls))
        };
        match self {
            Self::Strict => Ok(in_messages(called, expected, rules)),
            Self::Ordered => {
                let (called, expected) = calls();
                Ok(first_difference(
                    None,
                    called.iter(),
                    expected.iter(),
                    rules,
                ))
            }
            Self::Unordered => unmatched().map(differing),
            // Calls on the other side are listed only next to a call to the same tool.
            Self::Subset => unmatched().map(|mut calls| {
                retain_tools(&mut calls.missing, &calls.extra);
                differing(calls)
            }),
            Self::Superset => unmatched().map(|mut calls| {
                retain_tools(&mut calls.extra, &calls.missing);
                differing(calls)
            }),
        }
    }
}

/// Returns the first difference, message by message.
fn in_messages<'t>(
    called: &'t Trajectory,
    expected: &'t Trajectory,
    rules: &ArgsRules,
) -> Option<TrajectoryDifference<'t>> {
    let (called, expected) = (called.messages(), expected.messages());
    for (at, (one, other)) in called.iter().zip(expected).enumerate() {
        let message = at + 1;
        if one.role != other.role {
            let (called, expected) = (one.role, other.role);
            return Some(TrajectoryDifference::Role {
                message,
                called,
                expected,
            });
        }
        let calls = (one.tool_calls.iter(), other.tool_calls.iter());
        let difference = first_difference(Some(message), calls.0, calls.1, rules);
        if difference.is_some() {
            return difference;
        }
    }
    let (called, expected) = (called.len(), expected.len());
    (called != expected).then_some(TrajectoryDifference::Messages { called, expected })
}

/// Returns the first position at which calls differ.
fn first_difference<'t>(
    message: Option<usize>,
    mut called: impl Iterator<Item = &'t ToolCall>,
    mut expected: impl Iterator<Item = &'t ToolCall>,
    rules: &ArgsRules,
) -> Option<TrajectoryDifference<'t>> {
    for call in 1.. {
        match (called.next(), expected.next()) {
            (None, None) => break,
            (Some(one), Some(other)) if rules.matches(one, other) => {}
            (called, expected) => {
                return Some(TrajectoryDifference::Call {
                    message,
                    call,
                    called,
                    expected,
                });
            }
        }
    }
    None
}

/// The maximum number of pairs of distinct calls to one tool that are compared one by one.
const MAX_PAIRS: usize = 1_000_000;

/// The calls that are left over after matching calls with expected calls.
///
/// Calls are matched one to one, in as many pairs as possible.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UnmatchedCalls<'t> {
    /// The expected calls that were not made, in order.
    pub missing: Vec<&'t ToolCall>,
    /// The calls that were made but not expected, in order.
    pub extra: Vec<&'t ToolCall>,
}

impl<'t> UnmatchedCalls<'t> {
    /// Matches calls with expected calls and returns the calls that are left over.
    ///
    /// This takes linear time if the rules compare calls by equality (`exact`, `ignore`, paths). Other rules compare
    /// every pair of distinct calls to the same tool.
    ///
    /// # Errors
    /// Returns [`TooManyCalls`] if a rule would have to compare more than 1,000,000 pairs of calls to one tool.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::trajectory::{ArgsRules, UnmatchedCalls};
    ///
    /// let [called, expected] = [["search", "pay"], ["search", "book"]]
    ///     .map(|names| Trajectory::of_calls(names.map(ToolCall::new)));
    /// let unmatched = UnmatchedCalls::new(&called.tool_calls(), &expected.tool_calls(), &ArgsRules::default())?;
    /// assert_eq!((&*unmatched.missing[0].name, &*unmatched.extra[0].name), ("book", "pay"));
    /// # Ok::<(), dsrs_metrics::trajectory::TooManyCalls>(())
    /// ```
    pub fn new(
        called: &ToolCalls<'t>,
        expected: &ToolCalls<'t>,
        rules: &ArgsRules,
    ) -> Result<Self, TooManyCalls> {
        let mut keys = Keys::default();
        let by_rule = |call: &ToolCall| keys.by_rule(call, rules.of(&call.name));
        let rest = without_equal(sides(called, expected), by_rule);
        let (mut tools, mut unmatched) = (Keys::default(), Sides::default());
        for calls in grouped(rest, |call| tools.of_tool(call)) {
            for (all, calls) in unmatched.iter_mut().zip(without_partner(calls, rules)?) {
                all.extend(calls);
            }
        }
        let [extra, missing] = unmatched.map(|mut calls| {
            calls.sort_unstable_by_key(|(at, _)| *at);
            calls.into_iter().map(|(_, call)| call).collect()
        });
        Ok(Self { missing, extra })
    }
}

/// Retains the calls to tools that `others` also call.
fn retain_tools(calls: &mut Vec<&ToolCall>, others: &[&ToolCall]) {
    let tools: HashSet<&str> = others.iter().map(|call| &*call.name).collect();
    calls.retain(|call| tools.contains(&*call.name));
}

/// Returns the calls to one tool that have no partner under a rule that compares pairs of calls.
fn without_partner<'t>(
    [called, expected]: Sides<'t>,
    rules: &ArgsRules,
) -> Result<Sides<'t>, TooManyCalls> {
    let rule = called.first().map(|(_, call)| rules.of(&call.name));
    if matches!(
        rule,
        None | Some(ArgsRule::Exact | ArgsRule::Ignore | ArgsRule::Paths(_))
    ) {
        return Ok([called, expected]);
    }
    let (ours, theirs) = (called.len(), expected.len());
    if ours.saturating_mul(theirs) > MAX_PAIRS {
        let what = format!("different calls of `{}`", name(&called[0].1.name));
        let instead = "compare their arguments by `exact`, `ignore` or paths";
        return Err(TooManyCalls::new(&what, ours, theirs, instead));
    }
    let [extra, missing] = unmatched(ours, theirs, |one, other| {
        rules.matches(called[one].1, expected[other].1)
    });
    let of = |calls: Vec<_>, places: Vec<usize>| places.into_iter().map(|at| calls[at]).collect();
    Ok([of(called, extra), of(expected, missing)])
}
