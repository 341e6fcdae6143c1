//! What ends a whole evaluation: an error, or a stop that all threads and tasks share. Failed rows don't end it; they
//! are counted.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::contract::MetricError;
use crate::contract::declared::requirements::NotReady;
use crate::data::DataError;
use crate::lm::LmError;

/// An error that prevents an evaluation from starting or leaves it without a result.
///
/// The message says what was found and what to write instead.
///
/// ```
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::runs::EvaluateErrorKind;
/// use dsrs_metrics::{Evaluate, Example, Prediction};
///
/// let error = Evaluate::<Example, Prediction>::builder().metric(F1::default()).concurrency(0).build().unwrap_err();
/// assert_eq!(error.kind(), EvaluateErrorKind::Setting);
/// assert_eq!(error.to_string(), "expected `concurrency` to be at least 1, found 0");
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluateError {
    kind: EvaluateErrorKind,
    message: String,
    /// Why a metric cannot read a row.
    unreadable: Option<Box<MetricError>>,
}

/// The kind of an [`EvaluateError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvaluateErrorKind {
    /// A setting, a name or the program's declared inputs are invalid.
    Setting,
    /// A metric cannot score any row.
    ///
    /// For example, the metric's model may not reply.
    NotReady,
    /// There are no rows.
    NoRows,
    /// A row cannot be read.
    Rows,
    /// Two rows have the same id.
    DuplicateId,
    /// A result file or the store cannot be written.
    Output,
    /// No row has a score.
    NothingScored,
    /// The runtime, a thread or a task failed.
    Runtime,
}

dsrs_metrics_values::debug_as_display!(EvaluateError);

impl EvaluateError {
    pub(crate) fn new(kind: EvaluateErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            unreadable: None,
        }
    }

    pub(crate) fn setting(message: impl Into<String>) -> Self {
        Self::new(EvaluateErrorKind::Setting, message)
    }

    pub(crate) fn input(message: String) -> Self {
        Self::new(EvaluateErrorKind::Rows, message)
    }

    pub(crate) fn no_rows() -> Self {
        let message = "expected at least 1 row, found none; check the source of the rows";
        Self::new(EvaluateErrorKind::NoRows, message)
    }

    pub(crate) fn rows_panicked(message: &str) -> Self {
        Self::input(format!("reading the rows panicked: {message}"))
    }

    pub(super) fn unreadable(at: impl std::fmt::Display, error: &MetricError) -> Self {
        Self {
            unreadable: Some(Box::new(error.clone())),
            ..Self::input(format!("{at}: {error}"))
        }
    }

    pub(super) fn output(path: &Path, reason: impl std::fmt::Display) -> Self {
        let message = format!("cannot write `{}`: {reason}", path.display());
        Self::new(EvaluateErrorKind::Output, message)
    }

    pub(super) fn worker(message: &str) -> Self {
        let message = format!("a worker task failed: {message}");
        Self::new(EvaluateErrorKind::Runtime, message)
    }

    #[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
    pub(super) fn no_thread(reason: io::Error) -> Self {
        let message =
            format!("cannot start a thread: {reason}; raise the process limit (`ulimit -u`)");
        Self::new(EvaluateErrorKind::Runtime, message)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> EvaluateErrorKind {
        self.kind
    }

    /// Returns the error if a metric could not read a row from a file.
    ///
    /// Returns `None` if the evaluation failed for another reason.
    #[doc(hidden)]
    pub fn unreadable_row(&self) -> Option<&MetricError> {
        self.unreadable.as_deref()
    }
}

conversions! {
    DataError => EvaluateError: |error| Self::input(error.to_string());
    LmError => EvaluateError: |error| Self::new(EvaluateErrorKind::Output, error.to_string());
    NotReady => EvaluateError: |error| {
        let message = format!("metric `{}`: {}", error.metric, error.reason);
        Self::new(EvaluateErrorKind::NotReady, message)
    };
}

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn lock<S>(value: &Mutex<S>) -> MutexGuard<'_, S> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a run has been stopped. The level never decreases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    Running,
    /// Rows in progress can finish, but no more are started.
    Stopped,
    /// Like `Stopped`, but requested from outside the run.
    Requested,
    /// The rows in progress are abandoned.
    Abandoned,
    /// The run ends without waiting for abandoned rows that cannot be cancelled.
    GivenUp,
}

/// Stops a run.
#[derive(Default)]
pub(crate) struct Stop(watch::Sender<Level>);

impl Stop {
    pub(crate) fn raise(&self, to: Level) {
        self.0.send_if_modified(|level| {
            let is_higher = to > *level;
            *level = to.max(*level);
            is_higher
        });
    }

    pub(crate) fn is_at(&self, level: Level) -> bool {
        *self.0.borrow() >= level
    }

    /// Waits until the run has been stopped to at least this level.
    pub(crate) async fn reached(&self, level: Level) {
        // The sender lives as long as the stop.
        let _ = self.0.subscribe().wait_for(|it| *it >= level).await;
    }
}
