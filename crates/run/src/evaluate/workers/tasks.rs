//! Rows that wait for a program or an asynchronous metric. Tasks of the runtime take them one by one. Once all rows are
//! evaluated, a sample of them may be judged.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::threads::number_of_threads;
use super::{Run, UntilDropped, until_dropped};
use crate::contract::{Program, Settings, panic};
use crate::evaluate::error::{EvaluateError, Level};
use crate::evaluate::input::Numbered;
use crate::evaluate::report::Lines;
use crate::evaluate::row::RowResult;
use crate::evaluate::truth::{SampledRow, TruthRun};

/// Runs the evaluation, and returns once the rows are evaluated or abandoned. Dropping the future cancels the tasks.
///
/// A row is read only when few tasks are waiting to start, so few rows wait for a task, and none for a thread of the
/// runtime.
pub(crate) async fn run_as_tasks<G, P, Kind: 'static>(
    run: &Arc<Run<'static, G, P>>,
    program: impl Program<G, P, Kind> + 'static,
) -> Result<(), EvaluateError>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    let (program, settings) = (Arc::new(program), Settings::current());
    let unbegun = Arc::new(Semaphore::new(
        match number_of_threads(run.options.concurrency) {
            // With a single thread, no row waits.
            1 => 1,
            threads => 2 * threads,
        },
    ));
    let spawn = |tasks: &mut JoinSet<()>, row, permit| {
        let (run, program) = (Arc::clone(run), Arc::clone(&program));
        let work = settings.clone().scope(async move {
            drop(permit);
            run.work(Some(row), &*program).await;
        });
        #[cfg(feature = "lm")]
        let work = crate::lm::replay::in_scope(work);
        tasks.spawn(work);
    };
    let _wake_up = start_wake_up(Handle::current());
    let mut tasks = JoinSet::new();
    let mut has_rows = true;
    run.supervise(async {
        while has_rows || !tasks.is_empty() {
            let takes_row = has_rows && tasks.len() < run.options.concurrency && !run.is_ahead();
            let next = async {
                let permit = Arc::clone(&unbegun).acquire_owned().await;
                (run.source.next(&run.stop).await, permit)
            };
            tokio::select! {
                biased;
                () = run.stop.reached(Level::Abandoned) => {
                    has_rows = false;
                    // A task that blocks its thread cannot be cancelled.
                    tokio::select! {
                        () = tasks.shutdown() => {}
                        () = run.stop.reached(Level::GivenUp) => tasks.detach_all(),
                    }
                }
                Some(ended) = tasks.join_next() => {
                    let panic = ended.err().and_then(|error| error.try_into_panic().ok());
                    if let Some(panic) = panic {
                        return Err(EvaluateError::worker(&panic::into_message(panic)));
                    }
                }
                next = next, if takes_row => match next {
                    (Some(row), permit) => spawn(&mut tasks, row, permit),
                    (None, _) => has_rows = false,
                },
            }
            if run.source.failed() {
                // There will be no result, so the remaining work is cancelled.
                has_rows = false;
                tasks.shutdown().await;
            }
        }
        Ok(())
    })
    .await
}

impl<G: Send + Sync, P: Send + Sync> Run<'_, G, P> {
    /// Evaluates a row, and then all rows that are ready.
    pub(crate) async fn work<Kind>(
        &self,
        mut next: Option<Numbered<G, P>>,
        program: &impl Program<G, P, Kind>,
    ) {
        let mut line = Lines::default();
        while let Some((index, input)) = next {
            let row = self.plan.finish(input, program, self.store.as_ref()).await;
            match (&self.early, &self.truth) {
                (_, Some(truth)) => {
                    if truth.hold(index, row) {
                        self.stop.raise(Level::Stopped);
                    }
                }
                (Some(early), None) => {
                    for (index, row) in early.finished(index, row, &self.stop) {
                        self.finished(index, row, &mut line);
                    }
                }
                (None, None) => self.finished(index, row, &mut line),
            }
            // Yields, because rows that happen not to wait would keep other tasks from running.
            tokio::task::consume_budget().await;
            next = match self.is_ahead() {
                true => None,
                false => self.source.take(&self.stop),
            };
        }
    }

    /// Draws and judges the samples, and records all rows. After a stop, no further row is judged.
    pub(crate) async fn judge_samples(&self) {
        let Some(truth) = &self.truth else { return };
        let is_stopped = self.stop.is_at(Level::Stopped) || self.source.failed();
        let rows = stream::iter(truth.draw(is_stopped));
        let judged = rows.for_each_concurrent(self.options.concurrency, |row| async {
            let judged = self.judge(truth, row);
            #[cfg(feature = "lm")]
            let judged = crate::lm::replay::in_scope(judged);
            judged.await;
        });
        self.supervise(async {
            tokio::select! {
                biased;
                () = judged => {}
                () = self.stop.reached(Level::Abandoned) => {}
            }
        })
        .await;
    }

    async fn judge(&self, truth: &TruthRun<G, P>, sampled: SampledRow<G, P>) {
        let (index, mut row) = (sampled.index, sampled.row);
        for [number, metric, place] in sampled.judges {
            if self.stop.is_at(Level::Stopped) {
                break;
            }
            self.plan.judge(&mut row, metric, self.store.as_ref()).await;
            truth.record(number, place, &row.outcomes[metric]);
        }
        self.finished(index, row, &mut Lines::default());
    }

    /// Returns `true` if so many finished rows are waiting for an earlier one that no further row should be paid for.
    /// After a stop, they wait forever, and the source reports that there are no more rows.
    fn is_ahead(&self) -> bool {
        let early = self.early.as_ref();
        early.is_some_and(|early| early.waiting() >= self.options.concurrency)
            && !self.stop.is_at(Level::Stopped)
    }

    /// Writes, shows and counts a finished row.
    pub(crate) fn finished(&self, index: u64, row: RowResult<G, P>, line: &mut Lines) {
        self.render(index, &row, line);
        self.observers.notify(|observer| observer.on_row(&row));
        let mut rows = vec![(index, row)];
        self.record(|collector| {
            collector.write(line);
            collector.record(&mut rows);
        });
    }
}

/// The time until the first empty task.
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// The maximum time between two empty tasks.
const LONGEST_PAUSE: Duration = Duration::from_millis(64);

/// Starts a thread that regularly spawns an empty task, which wakes a sleeping thread of a multi-threaded runtime. Without
/// it, a row that blocks may delay others.
fn start_wake_up(runtime: Handle) -> Option<UntilDropped> {
    let is_multi_thread = runtime.runtime_flavor() == RuntimeFlavor::MultiThread;
    if !is_multi_thread || runtime.metrics().num_workers() < 2 {
        return None;
    }
    until_dropped("wake-up", move |is_over| {
        let mut pause = FIRST_PAUSE;
        while is_over(pause) {
            drop(runtime.spawn(async {}));
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    })
}
