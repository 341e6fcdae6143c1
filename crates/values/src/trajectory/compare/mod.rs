//! Comparison of two trajectories: match modes, scores, and differences.

mod args;
mod correctness;
mod keys;
mod modes;

pub use args::{ArgsFunction, ArgsRule, ArgsRules};
pub use correctness::{CallOrder, ToolCorrectnessOptions};
pub use keys::CallCounts;
pub use modes::UnmatchedCalls;
pub use modes::{MatchMode, TrajectoryDifference};

pub(super) use keys::Keys;

crate::message_errors! {
    /// The error returned when two trajectories have too many distinct calls to compare.
    pub struct TooManyCalls;
}

impl TooManyCalls {
    fn new(what: &str, called: usize, expected: usize, instead: &str) -> Self {
        format!("too many {what} to compare: {called} called, {expected} expected; {instead}")
            .into()
    }
}
