//! The result of a run.
//!
//! The result contains the counts, means and intervals of each metric, and the totals of the program.
//!
//! `tally.rs` counts the outcomes of a metric; each thread counts the simple ones itself. `sample.rs` has the values
//! with their interval and groups, and `counts.rs` the variance between repeats and the fields that predictions lack.
//! `metric_summary.rs` and `result.rs` have the results that users see.

mod counts;
mod metric_summary;
mod result;
mod sample;
mod tally;

pub use self::counts::{RepeatSummary, UnknownField};
pub use self::metric_summary::MetricSummary;
pub use self::result::{Ending, EvaluationResult, ProgramTotals};
pub(super) use self::sample::{GroupOf, Groups, value_at};
pub(crate) use self::sample::{IntervalOptions, Place, Sample};
pub(super) use self::tally::PlainTally;
pub(crate) use self::tally::{Tally, TallyOptions};
