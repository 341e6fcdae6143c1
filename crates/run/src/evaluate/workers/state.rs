//! The state that the threads or tasks of one run share.

use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::future::OptionFuture;
use tokio::time::Instant;

use super::collector::Collector;
use super::threads::{SharedRows, ThreadRows};
use crate::contract::panic;
use crate::evaluate::early::EarlyRun;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::input::{Source, Stop};
use crate::evaluate::lock::lock;
use crate::evaluate::manifest::StartedManifest;
use crate::evaluate::observer::Observers;
use crate::evaluate::options::Options;
use crate::evaluate::report::{Lines, Render, score_line};
use crate::evaluate::row::{Plan, RowResult, RunStore};
use crate::evaluate::truth::TruthRun;

/// The state that the threads or tasks of one run share.
pub(crate) struct Run<'a, G, P> {
    pub(crate) plan: Arc<Plan<'a, G, P>>,
    pub(crate) names: Vec<String>,
    pub(crate) source: Source<'a, G, P>,
    pub(crate) stop: Arc<Stop>,
    /// Set if the run ends once its gates are decided.
    pub(crate) early: Option<EarlyRun<G, P>>,
    /// Set if metrics judge a sample of the rows.
    pub(crate) truth: Option<TruthRun<G, P>>,
    pub(crate) observers: Observers<G, P>,
    pub(crate) collector: Mutex<Collector<G, P>>,
    /// Rows from this position on need only be counted; `None` if every row must be kept or passed on.
    pub(crate) counted_from: Option<u64>,
    /// The rows of each thread.
    pub(crate) thread_rows: Mutex<Vec<SharedRows<G, P>>>,
    /// Set if rows are written.
    pub(crate) render: Option<Render<G, P>>,
    /// `true` if gold rows and predictions are written too.
    pub(crate) has_sides: bool,
    pub(crate) store: Option<RunStore<G, P>>,
    pub(crate) started: Instant,
    pub(crate) manifest: StartedManifest,
    pub(crate) options: Options<G, P>,
}

impl<G: Send + Sync, P: Send + Sync> Run<'_, G, P> {
    /// Awaits the work of the run. Requests a stop when `stop_when` completes, and starts the grace period once a stop is
    /// requested.
    pub(super) async fn supervise<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut stop = pin!(OptionFuture::from(self.options.stop_when.clone()));
        let mut grace_period = None;
        loop {
            tokio::select! {
                biased;
                Some(()) = &mut stop, if !self.stop.is_requested() => self.stop.request(),
                () = self.stop.requested(), if grace_period.is_none() => {
                    grace_period = Some(self.start_grace_period());
                }
                result = &mut work => return result,
            }
        }
    }

    /// Starts the grace period, after which the rows in progress are abandoned. If signals are handled, its end is
    /// reported on standard error too. If no thread can be started, the period never ends.
    fn start_grace_period(&self) -> Option<UntilDropped> {
        let (stop, period) = (Arc::clone(&self.stop), self.options.grace_period);
        #[cfg(feature = "ctrl-c")]
        let is_reported = self.options.stop_on_ctrl_c;
        until_dropped("grace-period", move |is_over| {
            if is_over(period) && !stop.is_abandoned() {
                #[cfg(feature = "ctrl-c")]
                if is_reported {
                    super::ctrl_c::report_end_of(period);
                }
                stop.abandon();
                if is_over(CANCELLATION) {
                    stop.give_up();
                }
            }
        })
    }

    /// Adds the line of a row, if rows are written.
    pub(crate) fn render(&self, index: u64, row: &RowResult<G, P>, lines: &mut Lines) {
        let Some(render) = self.render else { return };
        lines.push(index, |text| {
            let start = text.len();
            if panic::catch(false, || render(row, &self.names, self.has_sides, text)).is_err() {
                text.truncate(start);
                score_line(row, &self.names, false, text);
            }
        });
    }

    /// Returns `true` if a row need only be counted, without a place in the results.
    pub(crate) fn may_count(&self, index: u64) -> bool {
        self.counted_from.is_some_and(|from| index >= from)
    }

    /// Records rows, and stops the run if no more rows should be taken.
    pub(crate) fn record(&self, record: impl FnOnce(&mut Collector<G, P>)) {
        let mut collector = lock(&self.collector);
        record(&mut collector);
        if let Some(error) = self.store.as_ref().and_then(RunStore::error) {
            collector
                .output_error
                .get_or_insert(EvaluateError::store(error));
        }
        if collector.is_full() {
            self.stop.set();
        }
    }

    /// Returns the rows of a new thread.
    pub(crate) fn add_thread(&self) -> SharedRows<G, P> {
        let rows = Arc::new(Mutex::new(ThreadRows::new(&lock(&self.collector).tallies)));
        lock(&self.thread_rows).push(Arc::clone(&rows));
        rows
    }
}

/// How long abandoned rows may take to be cancelled. A metric that computes without awaiting anything cannot be
/// cancelled, so the run ends without it.
pub(crate) const CANCELLATION: Duration = Duration::from_secs(1);

/// A guard. Dropping it ends a thread.
pub(super) type UntilDropped = mpsc::Sender<()>;

/// Starts a thread. Its work can wait for some time; it ends once that returns `false`, because the guard was dropped.
pub(super) fn until_dropped(
    name: &str,
    work: impl FnOnce(&dyn Fn(Duration) -> bool) + Send + 'static,
) -> Option<UntilDropped> {
    let (guard, dropped) = mpsc::channel::<()>();
    let work = move || work(&|time| dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout));
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.is_ok().then_some(guard)
}
