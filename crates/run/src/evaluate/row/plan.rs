//! The plan of a run: its metrics, how each row is evaluated, and how user code is awaited, with a deadline, a second
//! attempt and caught panics.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::gate::Gate;
use super::metric_entry::{MetricEntry, sharing};
use crate::contract::dedup::Sharing;
use crate::contract::panic::{self, Panic};
use crate::contract::{MetricCall, MetricError, MetricErrorKind, Outcome, ProgramRun, RowAnswer};

/// How every row is evaluated.
pub(crate) struct Plan<'a, G, P> {
    pub(crate) metrics: Vec<MetricEntry<'a, G, P>>,
    /// The number of metrics that evaluate every row. These metrics come first; the others judge a sample.
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
    /// How many rollouts can run a program at once under a gate.
    pub(crate) permits: Semaphore,
}

impl<'a, G: Sync, P: Sync> Plan<'a, G, P> {
    pub(crate) fn new(
        metrics: Vec<MetricEntry<'a, G, P>>,
        options: RowOptions,
        inputs: Option<Arc<[String]>>,
        gate: Option<Arc<Gate>>,
        concurrency: usize,
    ) -> Self {
        let waits = options.timeout.is_some() || options.repeats.is_some() || gate.is_some();
        let is_immediate = !waits && !metrics.iter().any(|entry| entry.metric().spec().is_async);
        let cheap = metrics.partition_point(|entry| entry.sample.is_none());
        let permits = Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS));
        Self {
            sharing: sharing(&metrics),
            metrics,
            cheap,
            options,
            inputs,
            is_immediate,
            gate,
            permits,
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

    pub(crate) fn call<'a>(
        &self,
        gold: &'a G,
        pred: &'a P,
        run: Option<&'a ProgramRun>,
    ) -> MetricCall<'a, G, P> {
        let mut call = MetricCall::new(gold, pred);
        call.run = run;
        match self.options.is_explained {
            true => call,
            false => call.without_explanation(),
        }
    }
}

/// The settings of the evaluation of one row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) resubmit_after: Option<Duration>,
    pub(crate) traceback: bool,
    /// How many times a row is evaluated, if set. The value 1 differs from `None` only in the reported figures.
    pub(crate) repeats: Option<u32>,
    /// The score of a repeat that failed.
    pub(crate) failure_score: f64,
    /// `true` if the run ends when a metric cannot read a row from a file.
    pub(crate) rejects_unreadable: bool,
    /// `true` if the details and feedback of scores are read.
    pub(crate) is_explained: bool,
}

pub(super) type Attempt<T> = Result<T, Failure>;

/// Why an awaited call of user code returned nothing.
pub(super) enum Failure {
    Panicked(Panic),
    TimedOut,
}

/// A program's prediction with the record of its run. If there is no prediction, each metric's outcome and the
/// backtrace of a panic.
pub(crate) type ProgramResult<P> = Result<(P, ProgramRun), (Outcome, Option<String>)>;

impl RowOptions {
    /// Awaits a call of user code within the row's deadline, with a second attempt if it is slow.
    pub(super) async fn attempt<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
        deadline: Option<Instant>,
    ) -> Attempt<F::Output> {
        // Boxed, because a future that is moved takes up memory twice.
        let attempts = Box::pin(self.first_of_two(start, is_conclusive));
        let Some(deadline) = deadline else {
            return attempts.await;
        };
        let attempt = tokio::time::timeout_at(deadline, attempts).await;
        match attempt.unwrap_or(Err(Failure::TimedOut)) {
            Ok(late) if is_conclusive(&late) && Instant::now() > deadline => Err(Failure::TimedOut),
            attempt => attempt,
        }
    }

    /// Starts a second attempt at a slow call, and never a third. The first conclusive result wins, and the other call
    /// is cancelled. If one attempt fails or panics, the other is awaited. If both fail, the first failure is returned.
    async fn first_of_two<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
    ) -> Attempt<F::Output> {
        let succeeded = |attempt: &Attempt<F::Output>| attempt.as_ref().is_ok_and(is_conclusive);
        let start = &start;
        let once = async |is_first| {
            // Started inside the future, because the call may panic before it returns one.
            let called = panic::catch_async(self.traceback, async { start(is_first).await });
            called.await.map_err(Failure::Panicked)
        };
        let mut first = pin!(once(true));
        let Some(delay) = self.resubmit_after else {
            return first.await;
        };
        if let Ok(output) = tokio::time::timeout(delay, first.as_mut()).await {
            return output;
        }
        let mut second = pin!(once(false));
        tokio::select! {
            biased;
            output = &mut first => {
                if succeeded(&output) {
                    return output;
                }
                let other = second.await;
                if succeeded(&other) { other } else { output }
            }
            output = &mut second => if succeeded(&output) { output } else { first.await },
        }
    }
}

/// Returns `true` if a result is final: a score, a contribution to one or an abstention.
pub(super) fn is_conclusive(result: &Result<RowAnswer, MetricError>) -> bool {
    let error = result.as_ref().err();
    error.is_none_or(|error| *error.kind() == MetricErrorKind::Abstained)
}
