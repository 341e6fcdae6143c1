//! Rows that never wait: threads take them and evaluate them one by one.
//!
//! The runtime's own threads are not used, so a metric that blocks or computes for a long time delays neither timers
//! nor tasks. A thread can take over the rows of a blocked one.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use derive_where::derive_where;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{RwLock, mpsc};

use super::{Collector, Run};
use crate::contract::{Outcome, Scored, Settings, panic};
use crate::evaluate::error::{EvaluateError, Level, Stop, lock};
use crate::evaluate::input::{Given, Input, OwnRows};
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
    run: Arc<Run<'static, G, P>>,
    /// The rows that each thread has taken.
    rows: Vec<OwnRows<G, P>>,
    /// A thread holds a read lock while it evaluates rows. Threads without a lock are taking rows, which may take a
    /// while.
    busy: RwLock<()>,
    panic: Mutex<Option<String>>,
}

/// Runs the evaluation, and returns once the rows are evaluated or abandoned. Dropping the future ends the threads.
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
        run: Arc::clone(run),
        rows: (0..number).map(|_| OwnRows::default()).collect(),
        busy: RwLock::default(),
        panic: Mutex::default(),
    });
    let (end, mut ended) = mpsc::unbounded_channel();
    for own in 0..number {
        let (threads, end) = (Arc::clone(&threads), end.clone());
        let (settings, runtime) = (Settings::current(), Handle::current());
        let work = move || {
            let _runtime = runtime.enter();
            let work = || settings.scope_sync(|| Worker::new(&threads, own).work());
            if let Err(panic) = panic::catch(false, work) {
                lock(&threads.panic).get_or_insert(panic.message);
                threads.run.stop.raise(Level::Stopped);
            }
            drop(threads);
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

/// Returns the number of threads. The maximum is the number of the runtime's threads, which the user chooses.
pub(super) fn number_of_threads(concurrency: usize) -> usize {
    let runtime = Handle::current();
    match runtime.runtime_flavor() {
        RuntimeFlavor::MultiThread => runtime.metrics().num_workers().min(concurrency),
        _ => 1,
    }
}

/// One thread that evaluates rows.
struct Worker<'t, G, P> {
    threads: &'t Threads<G, P>,
    run: &'t Run<'static, G, P>,
    /// The rows that the thread has taken.
    taken: &'t OwnRows<G, P>,
    rows: SharedRows<G, P>,
}

impl<'t, G: Send + Sync + 'static, P: Send + Sync + 'static> Worker<'t, G, P> {
    fn new(threads: &'t Threads<G, P>, own: usize) -> Self {
        let (run, rows) = (&*threads.run, SharedRows::default());
        lock(&run.thread_rows).push(Arc::clone(&rows));
        Self {
            threads,
            run,
            taken: &threads.rows[own],
            rows,
        }
    }

    fn work(&self) {
        let Run { source, stop, .. } = self.run;
        let (mut rows_at_once, mut last_added) = (1, Instant::now());
        while source.take_several(rows_at_once, stop, self.taken) || self.take_from_another() {
            // Fails if the run waits for the busy threads, or has ended.
            let Ok(_busy) = self.threads.busy.try_read() else {
                return;
            };
            let start = Instant::now();
            // Unlocked before the row is evaluated.
            let next = || lock(self.taken).pop_front();
            while let Some((index, input)) = next() {
                if stop.is_at(Level::Stopped) {
                    return;
                }
                if index < source.error_at() {
                    self.evaluate(index, input);
                }
            }
            let end = Instant::now();
            rows_at_once = match end - start < SHORT {
                true => (2 * rows_at_once).min(MAX_ROWS_AT_ONCE),
                false => 1,
            };
            if end - last_added >= ADDED_EVERY {
                self.record_rows();
                last_added = end;
            }
        }
    }

    /// Takes a row from another thread, because the source is empty. Returns `true` if there was one.
    fn take_from_another(&self) -> bool {
        let mut all = self.threads.rows.iter();
        let row = all.find_map(|rows| lock(rows).pop_front());
        row.map(|row| lock(self.taken).push_back(row)).is_some()
    }

    fn evaluate(&self, index: u64, input: Input<G, P>) {
        let Run {
            plan,
            source,
            store,
            ..
        } = self.run;
        let (gold, run) = (&*input.gold, input.run.as_deref());
        let scored = match &input.pred {
            Given::Prediction(pred) => plan.score_now(plan.call(gold, pred, run)),
            _ => None,
        };
        let Some((outcomes, traceback)) = scored else {
            // The row has no prediction, or a metric has to wait although its spec says that it is synchronous.
            let row = plan.finish(input, &Predicted, store.as_ref());
            return self.finish(index, Handle::current().block_on(row));
        };
        // A score without components, named scores or other data.
        let is_simple = |outcome: &Outcome| outcome.scored().is_some_and(Scored::is_simple);
        if let Given::Prediction(pred) = &input.pred
            && !outcomes.iter().all(is_simple)
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
        let run = self.run;
        drop(run.record(|collector| lock(&self.rows).add_to(collector)));
    }
}

/// The maximum number of finished rows of a thread.
const MAX_FINISHED: usize = 64;

/// A thread with this many bytes of lines adds its rows to those of the run.
const MAX_TEXT: usize = 1 << 16;

/// A thread's rows, shared with the run so that the rows of a blocked thread are not lost. Until the run ends, only the
/// thread itself locks them.
pub(crate) type SharedRows<G, P> = Arc<Mutex<ThreadRows<G, P>>>;

#[derive_where(Default)]
pub(crate) struct ThreadRows<G, P> {
    finished: Vec<(u64, RowResult<G, P>)>,
    /// The lines of the rows, if rows are written.
    lines: Lines,
}

impl<G, P> ThreadRows<G, P> {
    /// Adds the rows to those of the run. Returns those that are not kept, for the caller to drop.
    pub(crate) fn add_to(
        &mut self,
        collector: &mut Collector<G, P>,
    ) -> Vec<(u64, RowResult<G, P>)> {
        let mut rows = std::mem::take(&mut self.finished);
        collector.record(&mut rows);
        collector.write(&mut self.lines);
        rows
    }
}
