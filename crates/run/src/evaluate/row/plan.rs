//! The plan of a run: its metrics, and how each row is evaluated.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::gate::Gate;
use super::metric_entry::{MetricEntry, sharing};
use super::row_result::{Repeat, reduced};
use crate::contract::dedup::Sharing;
use crate::contract::{MetricCall, MetricIdentity, Outcome, ProgramRun};

/// How every row is evaluated.
pub(crate) struct Plan<'a, G, P> {
    pub(crate) metrics: Vec<MetricEntry<'a, G, P>>,
    /// How many of the metrics evaluate every row. They come first; the others judge a sample.
    pub(crate) cheap: usize,
    pub(crate) options: RowOptions,
    /// The metrics or components that occur more than once.
    pub(crate) sharing: Option<Sharing>,
    /// The program's input fields, for rows that do not declare their own.
    pub(crate) inputs: Option<Arc<[String]>>,
    /// `true` if the metrics answer rows with predictions without awaiting anything.
    pub(crate) is_immediate: bool,
    /// The gate, if the metrics have two tiers.
    pub(crate) gate: Option<Arc<Gate>>,
    /// How many rollouts may run a program at once, under a gate.
    pub(crate) permits: Semaphore,
    /// The metric identities at the first run.
    identities: OnceLock<Arc<IndexMap<String, MetricIdentity>>>,
}

impl<'a, G: Sync, P: Sync> Plan<'a, G, P> {
    pub(crate) fn new(
        metrics: Vec<MetricEntry<'a, G, P>>,
        options: RowOptions,
        inputs: Option<Arc<[String]>>,
        gate: Option<Arc<Gate>>,
        concurrency: usize,
    ) -> Self {
        let RowOptions {
            timeout, repeats, ..
        } = options;
        let waits = timeout.is_some() || repeats.is_some() || gate.is_some();
        let is_immediate = !waits && !metrics.iter().any(|entry| entry.is_async);
        let cheap = metrics.partition_point(|entry| entry.sample.is_none());
        let permits = Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS));
        let identities = OnceLock::new();
        Self {
            sharing: sharing(&metrics),
            metrics,
            cheap,
            options,
            inputs,
            is_immediate,
            gate,
            permits,
            identities,
        }
    }

    /// Returns when a row that starts now times out.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.options.timeout.map(|timeout| Instant::now() + timeout)
    }
}

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    /// Returns `true` if rows with predictions are evaluated without awaiting anything. A run with a store awaits metrics that
    /// declare a cost.
    pub(crate) fn never_waits(&self, has_store: bool) -> bool {
        let is_kept = |entry: &MetricEntry<'_, G, P>| entry.metric().spec().cost_msats > 0;
        let judges_all = self.cheap == self.metrics.len();
        self.is_immediate && judges_all && !(has_store && self.metrics.iter().any(is_kept))
    }

    /// Returns the metric identities, with the current contents of the files they read.
    pub(crate) fn current_identities(&self) -> Arc<IndexMap<String, MetricIdentity>> {
        let identity = |entry: &MetricEntry<'_, G, P>| {
            (entry.name.clone(), MetricIdentity::of(entry.metric()))
        };
        Arc::new(self.metrics.iter().map(identity).collect())
    }

    /// Like [`current_identities`](Self::current_identities), but with the files as they were at the first run.
    pub(crate) fn identities(&self) -> Arc<IndexMap<String, MetricIdentity>> {
        Arc::clone(self.identities.get_or_init(|| self.current_identities()))
    }

    pub(crate) fn call<'a>(
        &self,
        gold: &'a G,
        pred: &'a P,
        run: Option<&'a ProgramRun>,
    ) -> MetricCall<'a, G, P> {
        let mut call = MetricCall::new(gold, pred);
        call.run = run;
        if self.options.is_explained {
            call
        } else {
            call.without_explanation()
        }
    }

    /// Returns the outcome of each metric over the repeats of a row.
    pub(crate) fn reduced(&self, repeats: &[Repeat<P>]) -> Vec<Outcome> {
        reduced(repeats, self.metrics.len(), self.options.failure_score)
    }
}

/// The settings of the evaluation of one row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) resubmit_after: Option<Duration>,
    pub(crate) traceback: bool,
    /// How often a row is evaluated, if set. 1 differs from `None` only in the reported figures.
    pub(crate) repeats: Option<u32>,
    /// The score of a repeat that failed.
    pub(crate) failure_score: f64,
    /// `true` if a row of a file that a metric cannot read ends the run.
    pub(crate) rejects_unreadable: bool,
    /// `true` if the details and feedback of scores are read.
    pub(crate) is_explained: bool,
}
