//! Comparison of two trajectories: the modes of a match, scores, and what differs.

mod args;
mod assignment;
mod correctness;
mod counts;
mod flow;
mod keys;
mod modes;
mod too_many;
mod unmatched;

pub use args::{ArgsFunction, ArgsRule, ArgsRules};
pub use correctness::{CallOrder, ToolCorrectnessOptions};
pub use counts::CallCounts;
pub use modes::{MatchMode, TrajectoryDifference};
pub use too_many::TooManyCalls;
pub use unmatched::UnmatchedCalls;

pub(super) use keys::Keys;
