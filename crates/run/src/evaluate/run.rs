//! A run, from the first row to the result. `threads.rs` and `tasks.rs` evaluate the rows.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, Shared, join_all};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::collector::{Collector, CollectorOptions};
use super::error::EvaluateError;
use super::grace::GracePeriod;
use super::groups::Groups;
use super::journal::{JournalError, RunJournal};
use super::metric_entry::MetricEntry;
use super::observer::{Observers, RunStart};
use super::options::Options;
use super::preflight::Preflight;
use super::result::{Ending, EvaluationResult};
use super::row::Plan;
use super::row_result::RowResult;
use super::source::{Source, lock};
use super::stop::Stop;
use super::tally::Tally;
use super::thread_rows::{SharedRows, ThreadRows};
use super::{tasks, threads};
use crate::core::panic;
use crate::core::program::Program;
use crate::core::program_run::ProgramOutput;
use crate::evaluate::report::{Lines, Progress, Render, ResultFiles};

/// The program of rows that already have predictions; it is never called.
pub(super) struct Predicted;

impl<G: Sync, P> Program<G, P, Predicted> for Predicted {
    async fn output(&self, _: &G, _: Option<&[String]>) -> Result<ProgramOutput<P>, String> {
        Err("the row has no prediction".to_owned())
    }
}

/// The state that the threads or tasks of one run share.
pub(super) struct Run<'a, G, P> {
    pub(super) plan: Arc<Plan<'a, G, P>>,
    pub(super) names: Vec<String>,
    pub(super) source: Source<'a, G, P>,
    pub(super) stop: Arc<Stop>,
    pub(super) stop_when: Option<Shared<BoxFuture<'static, ()>>>,
    pub(super) observers: Observers<G, P>,
    pub(super) collector: Mutex<Collector<G, P>>,
    /// Rows at positions from this one on may be only counted; `None` if something else of every row is needed.
    pub(super) counted_from: Option<u64>,
    /// The rows of each thread.
    thread_rows: Mutex<Vec<SharedRows<G, P>>>,
    /// Set if rows are written.
    pub(super) render: Option<Render<G, P>>,
    pub(super) journal: Option<RunJournal<G, P>>,
    started: Instant,
}

/// Runs a program on the rows.
pub(super) async fn run<G, P, Kind>(
    plan: Arc<Plan<'static, G, P>>,
    source: Source<'static, G, P>,
    program: impl Program<G, P, Kind> + 'static,
    render: Render<G, P>,
    options: &Options<G, P>,
) -> Result<EvaluationResult<G, P>, EvaluateError>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
    Kind: 'static,
{
    check_runtime(&plan)?;
    let preflight = options.preflight(&plan).await?;
    let stop = Arc::new(Stop::default());
    // Before result files are created, so that no signal leaves one behind.
    #[cfg(feature = "ctrl-c")]
    let _listener = match options.stop_on_ctrl_c {
        true => super::ctrl_c::listen(Arc::clone(&stop), options.grace_period).await,
        false => None,
    };
    let run = Arc::new(Run::prepare(plan, source, render, options, (preflight, stop))?);
    run.started(options);
    let is_scored = (&program as &dyn Any).is::<Predicted>();
    let ended = match is_scored && run.plan.is_immediate && run.journal.is_none() {
        true => threads::run_on_threads(&run, options).await,
        false => tasks::run_as_tasks(&run, program, options).await,
    };
    run.ended(ended.and_then(|()| run.finish(options)))
}

/// Runs the evaluation within the calling task, so that program and metrics may borrow.
pub(super) async fn run_in_task<'a, G, P, Kind>(
    plan: Plan<'a, G, P>,
    source: Source<'a, G, P>,
    program: &impl Program<G, P, Kind>,
    options: &Options<G, P>,
) -> Result<EvaluationResult<G, P>, EvaluateError>
where
    G: Send + Sync,
    P: Send + Sync,
{
    let state = (options.preflight(&plan).await?, Arc::default());
    let run = Run::prepare(Arc::new(plan), source, super::score_line, options, state)?;
    let (_, rows) = run.source.size_hint();
    let workers = options.concurrency.min(rows.unwrap_or(usize::MAX));
    let work = |_| async {
        let first = run.source.next(&run.stop).await;
        run.work(first, program).await;
    };
    join_all((0..workers).map(work)).await;
    run.finish(options)
}

fn check_runtime<G, P>(plan: &Plan<'_, G, P>) -> Result<(), EvaluateError> {
    let missing = |missing| EvaluateError::Runtime { missing };
    Handle::try_current().map_err(|_| missing("no tokio runtime found"))?;
    if plan.options.timeout.or(plan.options.resubmit_after).is_none() {
        return Ok(());
    }
    let timer = panic::catch(false, || drop(tokio::time::sleep(Duration::ZERO)));
    timer.map_err(|_| missing("the tokio runtime has no timer"))
}

impl<G: Sync, P: Sync> Options<G, P> {
    /// Runs the preflight check. A run with a journal makes its calls later, before the first one that is not recorded.
    async fn preflight(&self, plan: &Plan<'_, G, P>) -> Result<Preflight, EvaluateError> {
        let preflight = Preflight::new(&plan.metrics)?;
        if self.journal.is_none() {
            preflight.check().await?;
        }
        Ok(preflight)
    }
}

impl<G, P> Options<G, P> {
    /// Starts to measure the grace period. If signals are handled, its end is reported on standard error, as they are.
    pub(super) fn start_grace_period(&self, stop: &Arc<Stop>) -> GracePeriod {
        let stop = Arc::clone(stop);
        #[cfg(feature = "ctrl-c")]
        if self.stop_on_ctrl_c {
            let report = super::ctrl_c::report_end_of(self.grace_period);
            return GracePeriod::start(stop, self.grace_period, report);
        }
        GracePeriod::start(stop, self.grace_period, || {})
    }
}

/// Completes when a stop is requested by `stop_when`.
pub(super) async fn stop_signal(signal: Option<&Shared<BoxFuture<'static, ()>>>) {
    match signal {
        Some(signal) => signal.clone().await,
        None => std::future::pending().await,
    }
}

impl<'a, G: Send + Sync, P: Send + Sync> Run<'a, G, P> {
    fn prepare(
        plan: Arc<Plan<'a, G, P>>,
        source: Source<'a, G, P>,
        render: Render<G, P>,
        options: &Options<G, P>,
        (preflight, stop): (Preflight, Arc<Stop>),
    ) -> Result<Self, EvaluateError> {
        let settings = &options.journal_settings;
        let open = |journal| RunJournal::open(journal, settings, &plan, (preflight, &stop));
        let journal = options.journal.as_ref().map(open).transpose()?;
        let files = ResultFiles::create(&options.outputs, options.escape_formulas)?;
        let render = files.is_some().then_some(render);
        let tally = |metric: &MetricEntry<'_, G, P>| {
            Tally::new(&metric.name, metric.kind, metric.range, options.tally(plan.options.repeats))
        };
        let (expected, total) = source.size_hint();
        let keep_below = if options.keep_results { u64::MAX } else { options.table_rows as u64 };
        let intervals = options.tally(plan.options.repeats).intervals;
        let needs_rows = journal.is_some() || !options.observers.is_empty();
        let needs_rows = needs_rows || intervals.needs_places() || options.keep_results;
        let collector = CollectorOptions {
            keep_below,
            expected: expected.min(super::source::MAX_PREALLOCATED_ROWS),
            max_errors: options.max_errors,
            groups: options.group.clone().map(Groups::new),
            files,
            progress: Progress::new(options.progress, total.map(|total| total as u64)),
        };
        Ok(Self {
            names: plan.metrics.iter().map(|metric| metric.name.clone()).collect(),
            collector: Mutex::new(Collector::new(
                plan.metrics.iter().map(tally).collect(),
                collector,
            )),
            plan,
            counted_from: (!needs_rows).then_some(keep_below),
            thread_rows: Mutex::default(),
            source,
            stop,
            stop_when: options.stop_when.clone(),
            observers: Observers::new(&options.observers),
            render,
            journal,
            started: Instant::now(),
        })
    }

    /// Adds the line of a row, if rows are written.
    pub(super) fn render(&self, index: u64, row: &RowResult<G, P>, lines: &mut Lines) {
        let Some(render) = self.render else { return };
        lines.push(index, |text| {
            let start = text.len();
            if panic::catch(false, || render(row, &self.names, text)).is_err() {
                text.truncate(start);
                super::score_line(row, &self.names, text);
            }
        });
    }

    /// Returns whether a row may be counted, without its place in the results.
    pub(super) fn may_count(&self, index: u64) -> bool {
        self.counted_from.is_some_and(|from| index >= from)
    }

    /// Records rows, and stops the run if no more are to be taken.
    pub(super) fn record(&self, record: impl FnOnce(&mut Collector<G, P>)) {
        let mut collector = lock(&self.collector);
        record(&mut collector);
        if let Some(error) = self.journal.as_ref().and_then(RunJournal::error) {
            collector.output_error.get_or_insert(error.into());
        }
        if collector.is_full() {
            self.stop.set();
        }
    }

    /// Returns the rows of a new thread.
    pub(super) fn add_thread(&self) -> SharedRows<G, P> {
        let rows = Arc::new(Mutex::new(ThreadRows::new(&lock(&self.collector).tallies)));
        lock(&self.thread_rows).push(Arc::clone(&rows));
        rows
    }

    fn started(&self, options: &Options<G, P>) {
        let (_, rows) = self.source.size_hint();
        let (metrics, concurrency) = (&*self.names, options.concurrency);
        let start = RunStart { metrics, rows: rows.map(|rows| rows as u64), concurrency };
        self.observers.notify(|observer| observer.on_start(&start));
    }

    fn ended(
        &self,
        mut result: Result<EvaluationResult<G, P>, EvaluateError>,
    ) -> Result<EvaluationResult<G, P>, EvaluateError> {
        self.observers.notify(|observer| observer.on_end(result.as_ref()));
        if let Ok(result) = &mut result {
            result.observer_error = self.observers.error();
        }
        result
    }

    /// Syncs the journal, and compares the number of rows with that of the run that it continues.
    fn finish_journal(&self, collector: &mut Collector<G, P>, stopped: bool) {
        let Some(journal) = &self.journal else { return };
        let is_complete = !stopped && !collector.is_full() && !self.source.failed();
        match journal.finish(is_complete.then_some(collector.rows)) {
            Ok(()) => {}
            Err(error @ JournalError::Changed { .. }) => {
                self.source.fail(u64::MAX - 1, error.into());
            }
            Err(error) => _ = collector.output_error.get_or_insert(error.into()),
        }
    }

    /// Borrows the run, since a worker that could not be cancelled may still use it.
    fn finish(&self, options: &Options<G, P>) -> Result<EvaluationResult<G, P>, EvaluateError> {
        let stopped = self.stop.is_requested();
        self.source.check_ids();
        for rows in &*lock(&self.thread_rows) {
            self.record(|collector| lock(rows).add_to(collector, drop));
        }
        let mut collector = lock(&self.collector);
        self.finish_journal(&mut collector, stopped);
        if let Some(error) = self.source.error() {
            collector.discard_files();
            return Err(error);
        }
        if collector.rows == 0 && !stopped {
            return Err(EvaluateError::NoRows);
        }
        let finished = collector.finish();
        let mut result = EvaluationResult {
            score: finished.summaries[0][0].score,
            results: finished.results,
            metrics: finished.summaries.into_iter().flatten().collect(),
            program: finished.program,
            rows: collector.rows,
            failed_rows: finished.failed_rows,
            first_error: finished.first_error,
            ending: match collector.output_error.take() {
                Some(error) => Ending::OutputFailed(error),
                None if collector.too_many_errors => Ending::MaxErrors,
                None if stopped => Ending::Stopped,
                None => Ending::Complete,
            },
            elapsed: self.started.elapsed(),
            without_group: finished.without_group,
            journal: self.journal.as_ref().map(RunJournal::usage),
            reads: self.plan.metrics.iter().flat_map(|metric| metric.reads.clone()).collect(),
            names: self.names.clone(),
            observer_error: None,
            unused_mappings: Vec::new(),
            failure_score: options.failure_score,
        };
        if let Some(show_table) = options.show_table {
            show_table(&result, options.table_rows);
        }
        if !options.keep_results {
            result.results = Vec::new();
        }
        Ok(result)
    }
}
