//! Errors that end a whole evaluation. A failed row is counted instead.

use std::path::PathBuf;

use super::unknown_field::UnknownField;
use crate::contract::declared::requirements::NotReady;
use crate::contract::rows::inputs;
use crate::contract::{InputError, MetricError, Origin};
use crate::data::DataError;
use crate::lm::LmError;
use crate::messages::escape;

/// An error that prevents an evaluation or leaves it without a result.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// There is no metric.
    #[error("expected at least one metric, found none; add one with `.metric(..)`")]
    NoMetric,
    /// Two metrics have the same name.
    #[error("duplicate metric name `{name}`; rename one with `#[metric(name = \"..\")]`")]
    DuplicateMetric {
        /// The name.
        name: String,
    },
    /// A metric's name cannot be used as a column of result files or on the command line.
    #[error(
        "invalid metric name {name:?}: {reason}; \
         rename it with `#[metric(name = \"..\")]`, for instance to `{suggestion}`"
    )]
    MetricName {
        /// The name.
        name: String,
        /// Why it is invalid.
        reason: &'static str,
        /// A valid name.
        suggestion: String,
    },
    /// `run` was called without a devset.
    #[error(
        "expected a devset, found none; set one with `.devset(..)`, or score finished predictions with `.score(..)`"
    )]
    NoDevset,
    /// There are no rows.
    #[error("expected at least 1 row, found none; check the source of the rows")]
    NoRows,
    /// The devset is a stream that an earlier run consumed.
    #[error(
        "the devset stream was consumed by an earlier run; build a new evaluation, or pass a list to `.devset(..)`"
    )]
    DevsetUsedUp,
    /// Neither a row nor the run declares which fields the program receives. Lists are checked before the first row; in
    /// a stream, such a row ends the run.
    #[error("row {row}: {error}")]
    Inputs {
        /// The number of the row, from 1.
        row: u64,
        /// What to declare.
        error: InputError,
    },
    /// No row of the devset has this input, so its name is wrong. Checked before the first row of a list.
    #[error(
        "no row has the input `{}`; {}",
        escape::name(name), inputs::hint("the first row", nearest.as_deref(), present)
    )]
    UnknownInput {
        /// The input.
        name: String,
        /// The most similar field name, if there is one.
        nearest: Option<String>,
        /// The fields of the first row that declares the input.
        present: Vec<String>,
    },
    /// The concurrency is 0.
    #[error("`concurrency` must be at least 1, found 0")]
    ZeroConcurrency,
    /// The number of repeats is 0.
    #[error("`repeats` must be at least 1, found 0")]
    ZeroRepeats,
    /// The timeout is 0, which would fail every row.
    #[error("`timeout` must be greater than 0 s, found 0 s; use a longer timeout, or none")]
    ZeroTimeout,
    /// The failure score is NaN, infinite, or so large that a mean could overflow.
    #[error("`failure_score` must be a number from -1e300 to 1e300, found {value:?}")]
    FailureScore {
        /// The failure score.
        value: f64,
    },
    /// A metric cannot score any row: its configuration is invalid, or its language model is not configured or does not
    /// reply. Checked before you pay for any call.
    #[error("metric `{metric}`: {reason}")]
    NotReady {
        /// The metric, or the component that is not ready.
        metric: String,
        /// The reason, and what to set.
        reason: String,
    },
    /// Two rows have the same id.
    #[error("duplicate row id `{id}` (rows {first} and {second}); ids must be unique within a run")]
    DuplicateId {
        /// The id.
        id: String,
        /// The first row with this id: its location in the file, or its number from 1.
        first: String,
        /// The second row.
        second: String,
    },
    /// A row could not be read.
    #[error("{message}")]
    Input {
        /// The error message of the row source, unchanged.
        message: String,
    },
    /// The iterator or stream that yields the rows panicked.
    #[error("reading the rows panicked: {message}")]
    Rows {
        /// The panic's message.
        message: String,
    },
    /// A metric cannot read a row of a file, and
    /// [`reject_unreadable_rows`](super::FailureSettings::reject_unreadable_rows) is set.
    #[error("{at}: {error}")]
    UnreadableRow {
        /// The location of the row.
        at: Origin,
        /// The metric's error.
        error: Box<MetricError>,
    },
    /// A result file cannot be written. Checked before any row is evaluated.
    #[error("cannot write `{}`: {reason}", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The operating system's error message.
        reason: String,
    },
    /// The store cannot be opened or written.
    #[error(transparent)]
    Store(LmError),
    /// The run cannot end once its gates are decided; see
    /// [`when_decided`](super::StopSettings::when_decided). Checked before any row is evaluated.
    #[error("{reason}")]
    Early {
        /// What is invalid, and what to write.
        reason: String,
    },
    /// A metric of [`truth`](super::EvaluateBuilder::truth) cannot judge a sample of the rows. Checked before any row is
    /// evaluated.
    #[error("{reason}")]
    Truth {
        /// What is invalid, and what to write.
        reason: String,
    },
    /// The label or a tag of the program is invalid.
    #[error("{reason}")]
    Description {
        /// Which one is invalid, and why.
        reason: String,
    },
    /// Two outputs have the same path.
    #[error("duplicate output file `{}`; write each format to a separate file", path.display())]
    DuplicateOutput {
        /// The file.
        path: PathBuf,
    },
    /// The future is polled outside a tokio runtime, or the runtime lacks a timer that the run needs.
    #[error(
        "{missing}; run this under `#[tokio::main]`, or call `enable_all()` on the runtime's builder"
    )]
    Runtime {
        /// What is missing.
        missing: &'static str,
    },
    /// No row has a score, so there is no mean.
    #[error(
        "not enough rows: none of {rows} has a score for `{metric}` ({failed} failed{})",
        first(first_error.as_ref())
    )]
    NothingScored {
        /// The metric.
        metric: String,
        /// The number of rows.
        rows: u64,
        /// The number of failed rows.
        failed: u64,
        /// The error of the first failed row.
        first_error: Option<String>,
    },
    /// No prediction has a field that the metric reads, so the field's name is wrong.
    #[error("metric `{metric}`: {field}")]
    UnknownField {
        /// The metric.
        metric: String,
        /// The field, with the most similar name.
        field: UnknownField,
    },
    /// The system refuses to start a thread.
    #[error("cannot start a thread: {reason}; raise the limit of processes (`ulimit -u`)")]
    Threads {
        /// The operating system's error message.
        reason: String,
    },
    /// A worker task panicked outside your program and metrics: while dropping a row, or because of a bug in this
    /// library.
    #[error("a worker task failed: {message}")]
    Worker {
        /// The panic message.
        message: String,
    },
}

dsrs_metrics_values::debug_as_display!(EvaluateError);

impl EvaluateError {
    /// Creates the error of a row that cannot be read.
    pub(crate) fn input(message: String) -> Self {
        Self::Input { message }
    }

    #[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
    pub(super) fn no_thread(reason: std::io::Error) -> Self {
        Self::Threads {
            reason: reason.to_string(),
        }
    }
}

impl From<DataError> for EvaluateError {
    fn from(error: DataError) -> Self {
        Self::input(error.to_string())
    }
}

impl From<NotReady> for EvaluateError {
    fn from(NotReady { metric, reason }: NotReady) -> Self {
        Self::NotReady { metric, reason }
    }
}

fn first(error: Option<&String>) -> String {
    error.map_or_else(String::new, |error| format!(", first error: {error}"))
}
