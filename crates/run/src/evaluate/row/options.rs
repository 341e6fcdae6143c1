//! The settings of the evaluation of one row.

use std::time::Duration;

/// The settings of the evaluation of one row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) resubmit_after: Option<Duration>,
    pub(crate) traceback: bool,
    /// How often a row is evaluated, if that is set; 1 differs from `None` only in the reported figures.
    pub(crate) repeats: Option<u32>,
    /// The score of a repeat that failed.
    pub(crate) failure_score: f64,
    /// Whether a row of a file that a metric cannot read ends the run.
    pub(crate) rejects_unreadable: bool,
    /// Whether details and feedback of the scores are read.
    pub(crate) is_explained: bool,
}
