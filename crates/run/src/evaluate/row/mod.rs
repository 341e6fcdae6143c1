//! The evaluation of one row.
//!
//! [`Plan`] has the metrics of a run and the settings of a row; each step has a file with methods on it.
//! `evaluation.rs` evaluates a row once or several times, `rollouts.rs` under a gate. Both run the program
//! (`prediction.rs`), then the metrics (`row_scores.rs`), within the limits in `attempt.rs`. `gate.rs` and `budget.rs`
//! decide which metrics of the second tier are called. `kept.rs` has what a run keeps in its store. The result is a
//! [`RowResult`].

mod attempt;
mod budget;
mod evaluation;
mod gate;
#[cfg_attr(
    not(feature = "store"),
    allow(dead_code, unused_imports, reason = "no run has a store")
)]
mod kept;
mod metric_entry;
mod plan;
mod prediction;
mod repeats;
mod rollouts;
mod row_result;
mod row_scores;
mod sample;

pub use self::budget::{BudgetReport, Spending};
pub(crate) use self::gate::Gate;
pub use self::kept::StoreUse;
pub(super) use self::kept::{ProgramIdentity, RunStore, StoreOptions};
pub(super) use self::metric_entry::{MetricEntry, Preflight, sharing};
pub(super) use self::plan::{Plan, RowOptions};
pub(super) use self::prediction::Predicted;
pub use self::repeats::Repeat;
pub(super) use self::repeats::counted;
pub(crate) use self::repeats::reduced;
pub use self::rollouts::RolloutNumber;
pub use self::row_result::RowResult;
pub(crate) use self::row_result::ScoredRollouts;
pub use self::sample::Sample;
