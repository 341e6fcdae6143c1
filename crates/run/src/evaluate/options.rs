//! The settings of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use futures_util::future::{BoxFuture, Shared};

use super::early::EarlyOptions;
use super::manifest::RunManifest;
use super::observer::Observer;
use super::report::{Format, ProgressDisplay, Render};
use super::row::StoreOptions;
use super::summary::{EvaluationResult, GroupOf};
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
    /// `true` if given predictions are written too.
    pub(super) save_rows: bool,
    pub(super) render: Option<Render<G, P>>,
    pub(super) observers: Vec<Arc<dyn Observer<G, P>>>,
    pub(super) store: Option<StoreOptions<G, P>>,
    /// `true` if stored results are replaced.
    pub(super) refresh: bool,
    pub(super) program_version: Option<String>,
    pub(super) ledger: Option<Ledger>,
    pub(super) stop_when: Option<Shared<BoxFuture<'static, ()>>>,
    /// When the run ends before all rows are evaluated.
    pub(super) early: Option<EarlyOptions>,
    pub(super) grace_period: Duration,
    #[cfg(feature = "ctrl-c")]
    pub(super) stop_on_ctrl_c: bool,
}

impl<G, P> Options<G, P> {
    /// Returns the options of a run for which nothing is set.
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
