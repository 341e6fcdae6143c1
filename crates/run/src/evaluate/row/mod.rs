//! The evaluation of one row.
//!
//! [`Plan`] has the metrics of a run and the settings of a row (`options.rs`). Its methods are in the files of the steps:
//! `evaluation.rs` evaluates a row once or several times, and `rollouts.rs` under a gate. Both run the program
//! (`prediction.rs`), then the metrics (`row_scores.rs`), within the limits of `attempt.rs`. `gate.rs` and `budget.rs` decide
//! which metrics of the second tier are called. `kept.rs` has what a run keeps in its store. The result is a
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
#[cfg_attr(
    not(feature = "store"),
    allow(dead_code, reason = "no run has a store")
)]
mod open_run;
mod options;
mod plan;
mod predicted;
mod prediction;
mod preflight;
mod repeats;
mod rollouts;
mod row_result;
mod row_scores;
mod spending;
mod unreadable;

pub use self::budget::BudgetReport;
pub(crate) use self::gate::Gate;
pub use self::kept::StoreUse;
pub(super) use self::kept::{RunStore, StoreOptions};
pub(super) use self::metric_entry::{MetricEntry, sharing};
pub(super) use self::open_run::ProgramIdentity;
pub(super) use self::options::RowOptions;
pub(super) use self::plan::Plan;
pub(super) use self::predicted::Predicted;
pub(super) use self::preflight::Preflight;
pub use self::repeats::Repeat;
pub(super) use self::repeats::counted;
pub(crate) use self::repeats::reduced;
pub use self::rollouts::RolloutNumber;
pub use self::row_result::RowResult;
pub(crate) use self::row_result::ScoredRollouts;
pub use self::spending::Spending;
