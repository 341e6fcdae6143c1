//! The threads and tasks that evaluate rows.
//!
//! The module has these files:
//!
//! - `threads.rs` evaluates rows that never wait.
//! - `tasks.rs` evaluates all other rows, and judges a sample of the rows.
//! - `ctrl_c.rs` ends a run early.
//!
//! Threads and tasks share the state of [`Run`]. They pass finished rows to the [`Collector`]. Simple rows are passed
//! in groups.

#[cfg(feature = "ctrl-c")]
mod ctrl_c;
mod tasks;
mod threads;

#[cfg(feature = "ctrl-c")]
pub(super) use self::ctrl_c::listen;
pub(super) use self::tasks::run_as_tasks;
pub(super) use self::threads::run_on_threads;

use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::future::OptionFuture;
use tokio::time::Instant;

use self::threads::SharedRows;
use crate::contract::{Outcome, panic};
use crate::evaluate::early::EarlyRun;
use crate::evaluate::error::{EvaluateError, Level, Stop, lock};
use crate::evaluate::input::Source;
use crate::evaluate::manifest::{Manifest, StartedManifest};
use crate::evaluate::options::{Observers, Options};
use crate::evaluate::report::{Lines, Progress, Render, ResultFiles, score_line};
use crate::evaluate::row::{Plan, RowResult, RunStore};
use crate::evaluate::summary::{Groups, MetricSummary, Place, ProgramTotals, Tally};
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
    /// The rows of each thread.
    pub(crate) thread_rows: Mutex<Vec<SharedRows<G, P>>>,
    /// Set if rows are written.
    pub(crate) render: Option<Render<G, P>>,
    /// `true` if gold rows and predictions are also written.
    pub(crate) has_sides: bool,
    pub(crate) store: Option<RunStore<G, P>>,
    pub(crate) started: Instant,
    pub(crate) manifest: StartedManifest,
    pub(crate) options: Options<G, P>,
}

impl<G: Send + Sync, P: Send + Sync> Run<'_, G, P> {
    /// Awaits the work of the run. Requests a stop when `stop_when` completes, abandons the rows in progress when the grace
    /// period is over, and gives up those that cannot be cancelled.
    pub(super) async fn supervise<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut stop = pin!(OptionFuture::from(self.options.stop_when.clone()));
        let (mut grace_period, mut cancellation) = (None, None);
        loop {
            tokio::select! {
                biased;
                Some(()) = &mut stop, if !self.stop.is_at(Level::Requested) => self.stop.raise(Level::Requested),
                () = self.stop.reached(Level::Abandoned), if cancellation.is_none() => {
                    cancellation = Some(self.raise_after(CANCELLATION, Level::GivenUp));
                }
                () = self.stop.reached(Level::Requested), if grace_period.is_none() => {
                    let period = self.options.grace_period;
                    grace_period = Some(self.raise_after(period, Level::Abandoned));
                }
                result = &mut work => return result,
            }
        }
    }

    /// Raises the stop's level after this time. If signals are handled, the end of the grace period is also reported on
    /// standard error. If no thread can be started, the level is never raised.
    fn raise_after(&self, time: Duration, level: Level) -> Option<UntilDropped> {
        let stop = Arc::clone(&self.stop);
        #[cfg(feature = "ctrl-c")]
        let is_reported = self.options.stop_on_ctrl_c && level == Level::Abandoned;
        until_dropped("grace-period", move |is_over| {
            if is_over(time) && !stop.is_at(level) {
                #[cfg(feature = "ctrl-c")]
                if is_reported {
                    ctrl_c::report_end_of(time);
                }
                stop.raise(level);
            }
        })
    }

    /// Adds a row's line, if rows are written.
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

    /// Records rows, and stops the run if no more rows should be taken.
    pub(crate) fn record<T>(&self, record: impl FnOnce(&mut Collector<G, P>) -> T) -> T {
        let mut collector = lock(&self.collector);
        let recorded = record(&mut collector);
        if let Some(error) = self.store.as_ref().and_then(RunStore::error) {
            collector.output_error.get_or_insert(error.into());
        }
        if collector.is_full() {
            self.stop.raise(Level::Stopped);
        }
        recorded
    }
}

/// How long abandoned rows may take to be cancelled. A metric that computes without awaiting anything cannot be
/// cancelled, so the run ends without it.
pub(crate) const CANCELLATION: Duration = Duration::from_secs(1);

/// A guard that ends a thread when it is dropped.
pub(super) type UntilDropped = mpsc::Sender<()>;

/// Starts a thread that runs until the returned guard is dropped. `work` receives a function that waits for some time.
/// This function returns `false` once the guard is dropped, and `work` then ends.
pub(super) fn until_dropped(
    name: &str,
    work: impl FnOnce(&dyn Fn(Duration) -> bool) + Send + 'static,
) -> Option<UntilDropped> {
    let (guard, dropped) = mpsc::channel::<()>();
    let work = move || work(&|time| dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout));
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.is_ok().then_some(guard)
}

pub(crate) struct Collector<G, P> {
    pub(crate) tallies: Vec<Tally>,
    pub(crate) rows: u64,
    /// `true` if any row has no id of its own.
    pub(crate) has_positional: bool,
    pub(crate) failed_rows: u64,
    pub(crate) program: ProgramTotals,
    /// Rows in the order they finished, each with its input position.
    pub(crate) results: Vec<(u64, RowResult<G, P>)>,
    /// Rows at positions below this one are kept.
    pub(crate) keep_below: u64,
    pub(crate) max_errors: Option<u64>,
    /// The groups of rows, if they have any.
    pub(crate) groups: Option<Groups<G, P>>,
    pub(crate) files: Option<ResultFiles>,
    pub(crate) progress: Progress,
    /// The position and error of the first failed row.
    pub(crate) first_error: Option<(u64, String)>,
    pub(crate) too_many_errors: bool,
    pub(crate) output_error: Option<EvaluateError>,
}

impl<G, P> Collector<G, P> {
    /// Records finished rows and takes those that are kept. The caller drops the others, so that no thread waits for it.
    pub(crate) fn record(&mut self, rows: &mut Vec<(u64, RowResult<G, P>)>) {
        for (index, row) in &*rows {
            self.record_row(*index, row);
        }
        let keep_below = self.keep_below;
        let kept = rows.extract_if(.., |(index, _)| *index < keep_below);
        self.results.extend(kept);
    }

    fn record_row(&mut self, index: u64, row: &RowResult<G, P>) {
        self.rows += 1;
        self.has_positional |= row.is_positional;
        let group = self.groups.as_mut().map_or(0, |groups| groups.of(row));
        let place = Place { row: index, group };
        Tally::record_row(&mut self.tallies, place, row);
        let of_repeats = row.repeats.iter().filter_map(|repeat| repeat.run.as_ref());
        for run in row.run.iter().chain(of_repeats) {
            self.program.add(run);
        }
        if row.is_failure() {
            self.record_failure(index, row);
        }
        let first = &self.tallies[0];
        self.progress.row_done(self.rows, || first.running_score());
    }

    /// Writes the lines of rows, if rows are written.
    pub(crate) fn write(&mut self, lines: &mut Lines) {
        if let Some(files) = &mut self.files
            && let Err(error) = files.write(lines)
        {
            self.output_error = Some(error);
            self.files = None;
        }
    }

    fn record_failure(&mut self, index: u64, row: &RowResult<G, P>) {
        self.failed_rows += 1;
        self.too_many_errors |= self.max_errors.is_some_and(|max| self.failed_rows >= max);
        let first = self.first_error.as_ref().map(|(first, _)| *first);
        if first.is_none_or(|first| index < first) {
            let error = row.all_outcomes().find_map(Outcome::error);
            let place = row.origin.as_ref().map(ToString::to_string);
            let place = place.unwrap_or_else(|| format!("row `{}`", row.id));
            self.first_error = error.map(|error| (index, format!("{place}: {error}")));
        }
    }

    /// Returns `true` if no more rows should be taken.
    pub(crate) fn is_full(&self) -> bool {
        self.too_many_errors || self.output_error.is_some()
    }

    /// Publishes the result files.
    pub(crate) fn write_files(&mut self, manifest: &Manifest) {
        if let Some(files) = self.files.take()
            && let Err(error) = files.finish(manifest)
        {
            self.output_error = Some(error);
        }
    }

    /// Returns the rows in input order.
    pub(crate) fn take_results(&mut self) -> Vec<RowResult<G, P>> {
        let mut results = std::mem::take(&mut self.results);
        results.sort_unstable_by_key(|(position, _)| *position);
        results.into_iter().map(|(_, row)| row).collect()
    }

    /// Ends the progress display. Returns each metric's summaries: its own, followed by those of its named scores.
    pub(crate) fn summaries(&mut self) -> Vec<Vec<MetricSummary>> {
        let first = &self.tallies[0];
        self.progress.finish(self.rows, || first.running_score());
        self.tallies.iter().map(Tally::summaries).collect()
    }
}
