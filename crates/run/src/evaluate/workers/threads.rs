//! Rows that never wait: threads take them and evaluate them one by one.
//!
//! The runtime's own threads are not used, so a metric that blocks or computes for a long time delays neither timers
//! nor tasks. A thread may take over the rows of a blocked one.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Notify;

use super::{Collector, Run};
use crate::contract::{Outcome, Scored, Settings, panic};
use crate::evaluate::error::{EvaluateError, Level, Stop, lock};
use crate::evaluate::input::{Given, Input, Numbered, OwnRows};
use crate::evaluate::report::Lines;
use crate::evaluate::row::{Predicted, RowResult};
use crate::evaluate::summary::{PlainTally, Tally};

/// The maximum number of rows that a thread takes at once.
const MAX_ROWS_AT_ONCE: usize = 512;

/// A thread takes more rows at once if its last batch took less time than this.
const SHORT: Duration = Duration::from_micros(100);

/// How often a thread's counted rows are added to the run's, to update its progress.
const ADDED_EVERY: Duration = Duration::from_millis(5);

/// The threads of a run.
pub(crate) struct Threads<G, P> {
    /// The threads that have not yet ended.
    running: AtomicUsize,
    /// The threads that are evaluating rows. The others are reading, which may take a while.
    busy: AtomicUsize,
    changed: Notify,
    panic: Mutex<Option<String>>,
    rows: Vec<OwnRows<G, P>>,
}

/// Runs the evaluation, and returns once the rows are evaluated or abandoned. Ends the threads if it is dropped.
pub(crate) async fn run_on_threads<G, P>(run: &Arc<Run<'static, G, P>>) -> Result<(), EvaluateError>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    struct StopOnDrop<'a>(&'a Stop);
    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.raise(Level::Stopped);
        }
    }
    let threads = Threads::start(run, run.options.concurrency)?;
    let _guard = StopOnDrop(&run.stop);
    run.supervise(async {
        tokio::select! {
            biased;
            () = threads.ended(run) => {}
            // A thread cannot be cancelled, so the run ends without it and does not record its row.
            () = run.stop.reached(Level::GivenUp) => {}
        }
    })
    .await;
    match lock(&threads.panic).take() {
        Some(message) => Err(EvaluateError::worker(&message)),
        None => Ok(()),
    }
}

/// Returns the number of threads: as many as the runtime has, which is the user's choice.
pub(super) fn number_of_threads(concurrency: usize) -> usize {
    let runtime = Handle::current();
    match runtime.runtime_flavor() {
        RuntimeFlavor::MultiThread => runtime.metrics().num_workers().min(concurrency),
        _ => 1,
    }
}

impl<G: Send + Sync + 'static, P: Send + Sync + 'static> Threads<G, P> {
    /// Starts the threads in the scope of the current settings.
    fn start(
        run: &Arc<Run<'static, G, P>>,
        concurrency: usize,
    ) -> Result<Arc<Self>, EvaluateError> {
        let number = number_of_threads(concurrency);
        let threads = Arc::new(Self {
            running: AtomicUsize::new(number),
            busy: AtomicUsize::new(0),
            changed: Notify::new(),
            panic: Mutex::default(),
            rows: (0..number).map(|_| OwnRows::default()).collect(),
        });
        for own in 0..number {
            let (run, threads) = (Arc::clone(run), Arc::clone(&threads));
            let (settings, runtime) = (Settings::current(), Handle::current());
            let work = {
                let threads = Arc::clone(&threads);
                move || {
                    let _runtime = runtime.enter();
                    let work = || settings.scope_sync(|| threads.work(own, &run));
                    if let Err(panic) = panic::catch(false, work) {
                        lock(&threads.panic).get_or_insert(panic.message);
                        run.stop.raise(Level::Stopped);
                    }
                    drop(run);
                    threads.end();
                }
            };
            if let Err(error) = thread::Builder::new()
                .name(format!("rows-{own}"))
                .spawn(work)
            {
                threads.end();
                if own == 0 {
                    return Err(EvaluateError::no_thread(error));
                }
            }
        }
        Ok(threads)
    }

    fn work(&self, own: usize, run: &Run<'static, G, P>) {
        let mut worker = Worker {
            run,
            rows: run.add_thread(),
            outcomes: Vec::new(),
        };
        let (mut rows_at_once, mut last_added) = (1, Instant::now());
        while self.take(own, rows_at_once, run) {
            let Some(_busy) = self.begin(run) else { return };
            let start = Instant::now();
            // Unlocked before the row is evaluated.
            let next = || lock(&self.rows[own]).pop_front();
            while let Some((index, input)) = next() {
                if run.stop.is_at(Level::Stopped) {
                    return;
                }
                if index < run.source.error_at() {
                    worker.evaluate(index, input);
                }
            }
            let end = Instant::now();
            rows_at_once = match end - start < SHORT {
                true => (2 * rows_at_once).min(MAX_ROWS_AT_ONCE),
                false => 1,
            };
            if end - last_added >= ADDED_EVERY {
                worker.record_rows();
                last_added = end;
            }
        }
    }

    /// Takes rows from the source, or from another thread if the source has none. Returns `true` if it took any.
    fn take(&self, own: usize, number: usize, run: &Run<'static, G, P>) -> bool {
        let Run { source, stop, .. } = run;
        if source.take_several(number, stop, &self.rows[own]) {
            return true;
        }
        let other = self.rows.iter().find_map(|rows| lock(rows).pop_front());
        other
            .map(|row| lock(&self.rows[own]).push_back(row))
            .is_some()
    }
}

impl<G: Send + Sync, P: Send + Sync> Threads<G, P> {
    /// Counts a thread as busy until the guard is dropped; `None` if no more rows are to be evaluated.
    fn begin<'a>(&'a self, run: &'a Run<'static, G, P>) -> Option<Busy<'a, G, P>> {
        // Counted before the flag is read: once the flag is set, no thread becomes busy.
        self.busy.fetch_add(1, Ordering::SeqCst);
        let busy = Busy { threads: self, run };
        (!run.stop.is_at(Level::Stopped)).then_some(busy)
    }

    fn end(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits until all threads have ended. After a stop or an error, waits only until none is busy, because one may be
    /// blocked by a pipe.
    async fn ended(&self, run: &Run<'static, G, P>) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let is_stopped = run.stop.is_at(Level::Stopped);
            let is_over = is_stopped || run.source.failed();
            if self.running.load(Ordering::SeqCst) == 0
                || is_over && self.busy.load(Ordering::SeqCst) == 0
            {
                return;
            }
            tokio::select! {
                () = changed => {}
                () = run.stop.reached(Level::Stopped), if !is_stopped => {}
            }
        }
    }
}

struct Busy<'a, G, P> {
    threads: &'a Threads<G, P>,
    run: &'a Run<'static, G, P>,
}

impl<G, P> Drop for Busy<'_, G, P> {
    fn drop(&mut self) {
        self.threads.busy.fetch_sub(1, Ordering::SeqCst);
        // Only after a stop or an error does the run wait until no thread is busy.
        if self.run.stop.is_at(Level::Stopped) || self.run.source.failed() {
            self.threads.changed.notify_waiters();
        }
    }
}

/// The state of one thread that evaluates rows.
struct Worker<'r, G, P> {
    run: &'r Run<'static, G, P>,
    rows: SharedRows<G, P>,
    outcomes: Vec<Outcome>,
}

impl<G: Send + Sync, P: Send + Sync> Worker<'_, G, P> {
    fn evaluate(&mut self, index: u64, input: Input<G, P>) {
        let Self {
            run,
            rows,
            outcomes,
            ..
        } = self;
        let Given::Prediction(pred) = &input.pred else {
            return self.wait_for((index, input));
        };
        let gold = &*input.gold;
        let call = run.plan.call(gold, pred, input.run.as_deref());
        let Some(traceback) = run.plan.score_now(call, outcomes) else {
            return self.wait_for((index, input));
        };
        let are_simple = are_simple(outcomes);
        if !are_simple && let Some(error) = run.plan.unreadable(gold, pred, input.origin.as_ref()) {
            return run.source.fail(index, error);
        }
        let may_count = run.may_count(index) && input.run.is_none();
        if run.render.is_none() && may_count && are_simple {
            return lock(rows).count(outcomes);
        }
        let (row, _) = RowResult::begin(input);
        let row = RowResult {
            outcomes: std::mem::take(outcomes),
            traceback,
            ..row
        };
        self.finish(index, row);
    }

    /// Evaluates a row without a prediction, or one on which a metric has to wait although its spec says that it is
    /// synchronous.
    fn wait_for(&mut self, (index, input): Numbered<G, P>) {
        let Run { plan, store, .. } = self.run;
        let row = plan.finish(input, &Predicted, store.as_ref());
        self.finish(index, Handle::current().block_on(row));
    }

    fn finish(&mut self, index: u64, mut row: RowResult<G, P>) {
        let run = self.run;
        run.observers.notify(|observer| observer.on_row(&row));
        let mut rows = lock(&self.rows);
        run.render(index, &row, &mut rows.lines);
        // A failure may end the run.
        let is_full = row.is_failure() || rows.is_full();
        // A program's tokens and cost are counted with the whole row.
        if run.may_count(index) && row.run.is_none() && are_simple(&row.outcomes) {
            rows.count(&row.outcomes);
            self.outcomes = std::mem::take(&mut row.outcomes);
        } else {
            rows.push(index, row);
        }
        drop(rows);
        if is_full {
            self.record_rows();
        }
    }

    /// Adds the thread's rows to those of the run.
    fn record_rows(&mut self) {
        self.run
            .record(|collector| lock(&self.rows).add_to(collector));
    }
}

/// The maximum number of finished rows of a thread.
const MAX_FINISHED: usize = 64;

/// A thread with this many bytes of lines adds its rows to those of the run.
const MAX_TEXT: usize = 1 << 16;

/// Only the thread itself locks its rows until the run ends, so the rows of a blocked thread are not lost.
pub(crate) type SharedRows<G, P> = Arc<Mutex<ThreadRows<G, P>>>;

pub(crate) struct ThreadRows<G, P> {
    counted: u64,
    tallies: Vec<PlainTally>,
    finished: Vec<(u64, RowResult<G, P>)>,
    /// The lines of the rows, if rows are written.
    pub(crate) lines: Lines,
}

impl<G, P> ThreadRows<G, P> {
    pub(crate) fn new(tallies: &[Tally]) -> Self {
        let tallies = tallies.iter().map(Tally::plain).collect();
        Self {
            counted: 0,
            tallies,
            finished: Vec::new(),
            lines: Lines::default(),
        }
    }

    /// Counts a row whose outcomes are simple.
    pub(crate) fn count(&mut self, outcomes: &[Outcome]) {
        self.counted += 1;
        let scored = outcomes.iter().filter_map(Outcome::scored);
        for (tally, scored) in self.tallies.iter_mut().zip(scored) {
            tally.record(scored);
        }
    }

    /// Adds a row that must be kept, not just counted.
    pub(crate) fn push(&mut self, index: u64, row: RowResult<G, P>) {
        self.finished.push((index, row));
    }

    /// Returns `true` if it is time to add the rows to those of the run.
    pub(crate) fn is_full(&self) -> bool {
        self.finished.len() >= MAX_FINISHED || self.lines.text.len() >= MAX_TEXT
    }

    /// Adds the rows to those of the run.
    pub(crate) fn add_to(&mut self, collector: &mut Collector<G, P>) {
        if self.counted > 0 {
            collector.add(std::mem::take(&mut self.counted), &mut self.tallies);
        }
        for (index, row) in self.finished.drain(..) {
            collector.record(index, row);
        }
        collector.write(&mut self.lines);
    }
}

/// Returns `true` if all outcomes are scores without components, named scores or other data.
fn are_simple(outcomes: &[Outcome]) -> bool {
    outcomes
        .iter()
        .all(|outcome| outcome.scored().is_some_and(Scored::is_simple))
}
