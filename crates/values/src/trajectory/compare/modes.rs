//! The modes in which a trajectory matches an expected one.

use serde::{Deserialize, Serialize};

use super::TooManyCalls;
use super::args::ArgsRules;
use super::unmatched::UnmatchedCalls;
use crate::trajectory::message::{Role, ToolCall};
use crate::trajectory::steps::Trajectory;

/// How a trajectory matches an expected one: `trajectory_match_mode` of agentevals, and `ordered`.
///
/// A strict match is an ordered match, and an ordered match an unordered one, which is both a subset and a superset. The texts of
/// messages and the results of calls never count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MatchMode {
    /// As many messages, of the same roles, and in each message the same calls in the same order.
    #[default]
    Strict,
    /// The same calls in the same order, however they are distributed over messages.
    Ordered,
    /// The same calls in any order.
    Unordered,
    /// Each call is expected: no more calls than the expected ones.
    Subset,
    /// Each expected call was made: no fewer calls than the expected ones.
    Superset,
}

/// The reason why a trajectory does not match an expected one. Numbers count from 1.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrajectoryDifference<'t> {
    /// The numbers of messages differ.
    Messages {
        /// The number of messages.
        called: usize,
        /// The number of expected messages.
        expected: usize,
    },
    /// A message has another role.
    Role {
        /// The number of the message.
        message: usize,
        /// The role of the message.
        called: Role,
        /// The expected role.
        expected: Role,
    },
    /// The first call that differs; `None` is the end of the calls.
    Call {
        /// The number of the message, if messages are compared.
        message: Option<usize>,
        /// The number of the call.
        call: usize,
        /// The call.
        called: Option<&'t ToolCall>,
        /// The expected call.
        expected: Option<&'t ToolCall>,
    },
    /// Calls without a partner, in any order: in `subset` the extra calls with their counterparts, in `superset` the missing ones.
    Unmatched(UnmatchedCalls<'t>),
}

impl MatchMode {
    /// Returns why a trajectory does not match the expected one; `None` if it does.
    ///
    /// # Errors
    /// A tool has too many different calls; see [`UnmatchedCalls::new`].
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
            Self::Subset => Ok(differing(unmatched()?.of_extra())),
            Self::Superset => Ok(differing(unmatched()?.of_missing())),
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
