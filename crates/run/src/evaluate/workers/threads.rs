//! Rows that never wait: threads take them and evaluate them one by one.
//!
//! The runtime's own threads are not used, so a metric that blocks or computes for a long time delays neither timers
//! nor tasks. A thread may take over the rows of a blocked one.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use derive_where::derive_where;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{RwLock, mpsc};

use super::{Collector, Run};
use crate::contract::{Outcome, Scored, Settings, panic};
use crate::evaluate::error::{EvaluateError, Level, Stop, lock};
use crate::evaluate::input::{Given, Input, Numbered, OwnRows};
use crate::evaluate::report::Lines;
use crate::evaluate::row::{Predicted, RowResult};

/// The maximum number of rows that a thread takes at once.
const MAX_ROWS_AT_ONCE: usize = 512;

/// A thread takes more rows at once if its last batch took less time than this.
const SHORT: Duration = Duration::from_micros(100);

/// How often a thread's counted rows are added to the run's, to update its progress.
const ADDED_EVERY: Duration = Duration::from_millis(5);

/// What the threads of a run share.
struct Threads<G, P> {
    /// The rows that each thread has taken.
    rows: Vec<OwnRows<G, P>>,
    /// A thread reads it while it evaluates rows. The others are taking rows, which may take a while.
    busy: RwLock<()>,
    panic: Mutex<Option<String>>,
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
    let number = number_of_threads(run.options.concurrency);
    let threads = Arc::new(Threads {
        rows: (0..number).map(|_| OwnRows::default()).collect(),
        busy: RwLock::default(),
        panic: Mutex::default(),
    });
    let (end, mut ended) = mpsc::unbounded_channel();
    for own in 0..number {
        let (run, threads, end) = (Arc::clone(run), Arc::clone(&threads), end.clone());
        let (settings, runtime) = (Settings::current(), Handle::current());
        let work = move || {
            let _runtime = runtime.enter();
            let work = || settings.scope_sync(|| threads.work(own, &run));
            if let Err(panic) = panic::catch(false, work) {
                lock(&threads.panic).get_or_insert(panic.message);
                run.stop.raise(Level::Stopped);
            }
            drop(run);
            // Fails if the run ended without this thread.
            let _ = end.send(());
        };
        let thread = thread::Builder::new().name(format!("rows-{own}"));
        if let Err(error) = thread.spawn(work)
            && own == 0
        {
            return Err(EvaluateError::no_thread(error));
        }
    }
    drop(end);
    let _guard = StopOnDrop(&run.stop);
    let all_ended = async {
        while !run.source.failed() && !run.stop.is_at(Level::Stopped) {
            tokio::select! {
                a_thread = ended.recv() => if a_thread.is_none() { return },
                () = run.stop.reached(Level::Stopped) => {}
            }
        }
        // A thread that takes rows may be blocked by a pipe.
        drop(threads.busy.write().await);
    };
    run.supervise(async {
        tokio::select! {
            biased;
            () = all_ended => {}
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
    fn work(&self, own: usize, run: &Run<'static, G, P>) {
        let rows = SharedRows::default();
        lock(&run.thread_rows).push(Arc::clone(&rows));
        let worker = Worker { run, rows };
        let (mut rows_at_once, mut last_added) = (1, Instant::now());
        while self.take(own, rows_at_once, run) {
            // Fails if the run waits for the busy threads, or has ended.
            let Ok(_busy) = self.busy.try_read() else {
                return;
            };
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

/// One thread that evaluates rows.
struct Worker<'r, G, P> {
    run: &'r Run<'static, G, P>,
    rows: SharedRows<G, P>,
}

impl<G: Send + Sync, P: Send + Sync> Worker<'_, G, P> {
    fn evaluate(&self, index: u64, input: Input<G, P>) {
        let Run { plan, source, .. } = self.run;
        let Given::Prediction(pred) = &input.pred else {
            return self.wait_for((index, input));
        };
        let gold = &*input.gold;
        let call = plan.call(gold, pred, input.run.as_deref());
        let Some((outcomes, traceback)) = plan.score_now(call) else {
            return self.wait_for((index, input));
        };
        if !are_simple(&outcomes)
            && let Some(error) = plan.unreadable(gold, pred, input.origin.as_ref())
        {
            return source.fail(index, error);
        }
        let (row, _) = RowResult::begin(input);
        let row = RowResult {
            outcomes,
            traceback,
            ..row
        };
        self.finish(index, row);
    }

    /// Evaluates a row without a prediction, or one on which a metric has to wait although its spec says that it is
    /// synchronous.
    fn wait_for(&self, (index, input): Numbered<G, P>) {
        let Run { plan, store, .. } = self.run;
        let row = plan.finish(input, &Predicted, store.as_ref());
        self.finish(index, Handle::current().block_on(row));
    }

    fn finish(&self, index: u64, row: RowResult<G, P>) {
        let run = self.run;
        run.observers.notify(|observer| observer.on_row(&row));
        let mut rows = lock(&self.rows);
        run.render(index, &row, &mut rows.lines);
        // A failure may end the run.
        let is_full = row.is_failure()
            || rows.finished.len() >= MAX_FINISHED
            || rows.lines.text.len() >= MAX_TEXT;
        rows.finished.push((index, row));
        drop(rows);
        if is_full {
            self.record_rows();
        }
    }

    /// Adds the thread's rows to those of the run.
    fn record_rows(&self) {
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

#[derive_where(Default)]
pub(crate) struct ThreadRows<G, P> {
    finished: Vec<(u64, RowResult<G, P>)>,
    /// The lines of the rows, if rows are written.
    lines: Lines,
}

impl<G, P> ThreadRows<G, P> {
    /// Adds the rows to those of the run.
    pub(crate) fn add_to(&mut self, collector: &mut Collector<G, P>) {
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
