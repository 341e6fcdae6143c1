//! The evaluation of one row.
//!
//! [`Plan`] has the metrics of a run and the settings of a row (`options.rs`). Its methods are in the files of the steps:
//! `evaluation.rs` evaluates a row once or several times, and `rollouts.rs` under a gate. Both run the program
//! (`prediction.rs`), then the metrics (`row_scores.rs`), within the limits of `attempt.rs`. `gate.rs` and `budget.rs` decide
//! which metrics of the second tier are called. `run_journal.rs` restores and records paid calls. The result is a
//! [`RowResult`].

mod attempt;
mod budget;
mod evaluation;
mod gate;
mod metric_entry;
mod options;
mod plan;
mod predicted;
mod prediction;
mod preflight;
mod repeats;
mod rollouts;
mod row_result;
mod row_scores;
mod run_journal;
mod spending;
mod unreadable;

pub use self::budget::BudgetReport;
pub(crate) use self::gate::Gate;
pub(super) use self::metric_entry::{MetricEntry, sharing};
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
pub(super) use self::run_journal::{JournalOptions, JournalSettings, RunJournal};
pub use self::spending::Spending;
