//! Comparison of two trajectories: the modes of a match, scores, and what differs.

mod args;
mod assignment;
mod correctness;
mod counts;
mod keys;
mod modes;
mod unmatched;

pub use args::{ArgsFunction, ArgsRule, ArgsRules};
pub use correctness::{CallOrder, ToolCorrectnessOptions};
pub use counts::CallCounts;
pub use modes::{MatchMode, TrajectoryDifference};
pub use unmatched::UnmatchedCalls;

pub(super) use keys::Keys;

/// Two trajectories have too many different calls to be compared.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} to compare: {called} called, {expected} expected; {instead}")]
pub struct TooManyCalls {
    what: String,
    called: usize,
    expected: usize,
    instead: &'static str,
}

crate::debug_as_display!(TooManyCalls);
