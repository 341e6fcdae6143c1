//! [`Observer`]: callbacks at the start of a run, after each row and at the end.

use std::sync::{Arc, OnceLock};

use super::error::EvaluateError;
use super::manifest::RunManifest;
use super::row::RowResult;
use super::summary::EvaluationResult;
use crate::contract::{Example, Prediction, panic};

/// Observes a run, like DSPy's callbacks. By default, all methods do nothing.
///
/// Workers call [`on_row`](Self::on_row) concurrently as rows finish, so it should return quickly. If an observer
/// panics, the run continues but doesn't call the observer again. [`EvaluationResult::observer_error`] then holds the
/// message.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::Arc;
///
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, rows::Pair, runs::{Observer, RowResult}};
///
/// #[derive(Default)]
/// struct Failures(AtomicUsize);
///
/// impl Observer for Failures {
///     fn on_row(&self, row: &RowResult) {
///         self.0.fetch_add(usize::from(row.is_failure()), Ordering::Relaxed);
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let failures = Arc::new(Failures::default());
/// let metric = metric_fn("exact", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let evaluate = Evaluate::builder().metric(metric).observer(Arc::clone(&failures)).build()?;
/// let pair = Pair::new("q1", example! { "answer" => 4 }, prediction! { "answer" => 4 });
/// evaluate.score([pair]).await?;
/// assert_eq!(failures.0.load(Ordering::Relaxed), 0);
/// # Ok(())
/// # }
/// ```
pub trait Observer<G = Example, P = Prediction>: Send + Sync {
    /// Called once, after all checks and before the first row.
    fn on_start(&self, run: &RunStart<'_>) {
        let _ = run;
    }

    /// Called with each finished row.
    fn on_row(&self, row: &RowResult<G, P>) {
        let _ = row;
    }

    /// Returns `true` if [`on_row`](Self::on_row) reads `gold`, `pred` or `attributes`. If it returns `false`, only the
    /// fields that the run needs are decoded from files.
    fn reads_rows(&self) -> bool {
        true
    }

    /// Called once after the last row, with the result or error of the run. This method is not called if
    /// [`on_start`](Self::on_start) was not called or if the run is dropped.
    fn on_end(&self, result: Result<&EvaluationResult<G, P>, &EvaluateError>) {
        let _ = result;
    }
}

impl<G, P, O: Observer<G, P> + ?Sized> Observer<G, P> for Arc<O> {
    fn on_start(&self, run: &RunStart<'_>) {
        (**self).on_start(run);
    }

    fn on_row(&self, row: &RowResult<G, P>) {
        (**self).on_row(row);
    }

    fn reads_rows(&self) -> bool {
        (**self).reads_rows()
    }

    fn on_end(&self, result: Result<&EvaluationResult<G, P>, &EvaluateError>) {
        (**self).on_end(result);
    }
}

/// Information about a run, available before its first row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RunStart<'a> {
    /// The names of the metrics, in the order of [`RowResult::outcomes`].
    pub metrics: &'a [String],
    /// The number of rows, if known before the rows are read.
    pub rows: Option<u64>,
    /// The maximum number of rows evaluated concurrently.
    pub concurrency: usize,
    /// A record of what the run measures: its label, tags, repeats and metric identities. Values known only at the end,
    /// such as the number of rows, are not set.
    pub manifest: &'a RunManifest,
}

/// The message of an observer's panic.
type Failure = OnceLock<String>;

/// The observers of one run. One that panics is removed.
pub(super) struct Observers<G, P> {
    all: Vec<(Arc<dyn Observer<G, P>>, Failure)>,
}

impl<G, P> Observers<G, P> {
    pub(super) fn new(all: &[Arc<dyn Observer<G, P>>]) -> Self {
        let all = all
            .iter()
            .map(|observer| (Arc::clone(observer), Failure::new()));
        Self { all: all.collect() }
    }

    /// Calls every observer that has not panicked.
    pub(super) fn notify(&self, call: impl Fn(&dyn Observer<G, P>)) {
        for (observer, failure) in &self.all {
            if failure.get().is_none()
                && let Err(panic) = panic::catch(false, || call(&**observer))
            {
                failure.get_or_init(|| format!("an observer panicked: {}", panic.message));
            }
        }
    }

    /// Returns the message of the first observer that panicked.
    pub(super) fn error(&self) -> Option<String> {
        self.all
            .iter()
            .find_map(|(_, failure)| failure.get().cloned())
    }
}
