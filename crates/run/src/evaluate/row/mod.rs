//! The evaluation of one row.
//!
//! [`Plan`] has the metrics of a run and the settings of a row; each step has a file with methods on it. `rollouts.rs`
//! evaluates the rollouts of a row; most rows have one. It runs the program, then the metrics (`row_scores.rs`), within
//! the limits in `plan.rs`. `gate.rs` decides which metrics of the second tier are called.
//! `kept.rs` has what a run keeps in its store. The result is a [`RowResult`].

mod gate;
#[cfg_attr(
    not(feature = "store"),
    allow(dead_code, unused_imports, reason = "no run has a store")
)]
mod kept;
mod metric_entry;
mod plan;
mod rollouts;
mod row_result;
mod row_scores;

pub(crate) use self::gate::Gate;
pub use self::gate::{BudgetReport, Spending};
pub use self::kept::StoreUse;
pub(super) use self::kept::{RunStore, StoreOptions};
pub use self::metric_entry::Sample;
pub(crate) use self::metric_entry::requirements;
pub(super) use self::metric_entry::{MetricEntry, checked_requirements};
pub(super) use self::plan::{Plan, RowOptions};
pub(super) use self::rollouts::Predicted;
pub use self::rollouts::RolloutNumber;
pub(super) use self::row_result::counted;
pub use self::row_result::{Repeat, RowResult};
pub(crate) use self::row_result::{RowOutcomes, reduced};
