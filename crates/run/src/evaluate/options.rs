//! The settings of a run, and its observers.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use derive_where::derive_where;
use futures_util::future::{BoxFuture, Shared};

use super::early::EarlyOptions;
use super::error::EvaluateError;
use super::manifest::RunManifest;
use super::report::{Format, ProgressDisplay, Render};
use super::row::{RowResult, StoreOptions};
use super::summary::{EvaluationResult, GroupOf};
use crate::contract::{Example, Prediction, panic};
use crate::lm::Ledger;

/// The default number of rows evaluated concurrently.
const DEFAULT_CONCURRENCY: usize = 32;

/// The default time that rows in progress have to finish after a stop.
const DEFAULT_GRACE_PERIOD: Duration = Duration::from_secs(30);

pub(super) type ShowTable<G, P> = fn(&EvaluationResult<G, P>, usize);

/// The settings of a run, apart from how a single row is evaluated.
#[derive_where(Clone, Default)]
pub(super) struct Options<G, P> {
    pub(super) concurrency: usize,
    pub(super) max_errors: Option<u64>,
    /// The settings that the manifest records.
    pub(super) run: RunManifest,
    /// The first mistake in a setting.
    pub(super) mistake: Option<String>,
    pub(super) group: Option<GroupOf<G, P>>,
    pub(super) keep_results: bool,
    pub(super) progress: ProgressDisplay,
    pub(super) table_rows: usize,
    pub(super) show_table: Option<ShowTable<G, P>>,
    pub(super) outputs: Vec<(Format, PathBuf)>,
    pub(super) escape_formulas: bool,
    /// `true` if given predictions are also written.
    pub(super) save_rows: bool,
    pub(super) render: Option<Render<G, P>>,
    pub(super) observers: Vec<Arc<dyn Observer<G, P>>>,
    pub(super) store: Option<StoreOptions<G, P>>,
    /// `true` if stored results are replaced.
    pub(super) refresh: bool,
    pub(super) program_version: Option<String>,
    pub(super) ledger: Option<Ledger>,
    pub(super) stop_when: Option<Shared<BoxFuture<'static, ()>>>,
    /// The conditions for ending the run before all rows are evaluated.
    pub(super) early: Option<EarlyOptions>,
    pub(super) grace_period: Duration,
    #[cfg(feature = "ctrl-c")]
    pub(super) stop_on_ctrl_c: bool,
}

impl<G, P> Options<G, P> {
    /// Returns the options of a run if nothing is set.
    pub(super) fn new() -> Self {
        Self {
            concurrency: DEFAULT_CONCURRENCY,
            keep_results: true,
            escape_formulas: true,
            grace_period: DEFAULT_GRACE_PERIOD,
            ..Self::default()
        }
    }

    /// Returns `true` if the details of scores may be read, because rows are kept, written or passed to an observer.
    pub(super) fn shows_rows(&self) -> bool {
        self.keep_results
            || !self.outputs.is_empty()
            || !self.observers.is_empty()
            || self.store.is_some()
    }

    /// Returns `true` if the run reads fields that no metric reads.
    pub(super) fn reads_whole_rows(&self) -> bool {
        self.keep_results
            || self.show_table.is_some()
            || self.store.is_some()
            || self.save_rows && !self.outputs.is_empty()
            || self.group.is_some() && self.run.group.is_none()
            || self.observers.iter().any(|it| (**it).reads_rows())
    }
}

/// An observer of a run, like DSPy's callbacks.
///
/// By default, all methods do nothing.
///
/// Workers call [`on_row`](Self::on_row) concurrently as rows finish, so this method should return quickly.
///
/// If an observer panics, the run continues but doesn't call the observer again. [`EvaluationResult::observer_error`]
/// then holds the message.
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

    /// Returns `true` if [`on_row`](Self::on_row) reads `gold`, `pred` or `attributes`.
    ///
    /// If this returns `false`, only the fields that the run needs are decoded from files.
    fn reads_rows(&self) -> bool {
        true
    }

    /// Called once after the last row, with the run's result or error.
    ///
    /// This method is not called if [`on_start`](Self::on_start) was not called or if the run's future is dropped.
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
    /// A record of what the run measures.
    ///
    /// The record contains the label, tags, repeats and metric identities. Values known only at the end, such as the
    /// number of rows, are not set.
    pub manifest: &'a RunManifest,
}

/// The message of an observer's panic.
type Failure = OnceLock<String>;

/// The observers of one run. An observer that panics is removed.
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
