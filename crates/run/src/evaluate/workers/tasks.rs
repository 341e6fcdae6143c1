//! Rows that wait, for a program or an asynchronous metric: tasks of the runtime take them, one after another.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};

use super::state::{Run, stop_signal};
use super::threads::number_of_threads;
use super::wake_up::WakeUp;
use crate::core::metric::settings::Settings;
use crate::core::panic;
use crate::core::program::Program;
use crate::evaluate::error::EvaluateError;
use crate::evaluate::input::{Numbered, Stop};
use crate::evaluate::report::Lines;

/// Runs the evaluation, and returns when the rows are evaluated or abandoned. Cancels the tasks if it is dropped.
///
/// Tasks are spawned for rows while few of the tasks before have not begun, so that few rows are read before a task is free
/// for them, and no thread of the runtime waits for a row.
pub(crate) async fn run_as_tasks<G, P, Kind: 'static>(
    run: &Arc<Run<'static, G, P>>,
    program: impl Program<G, P, Kind> + 'static,
) -> Result<(), EvaluateError>
where
    G: Send + Sync + 'static,
    P: Send + Sync + 'static,
{
    let (program, settings) = (Arc::new(program), Settings::current());
    let waiting = Arc::new(Waiting::default());
    let spawn = |tasks: &mut JoinSet<()>, row| {
        let (run, program, waiting) = (Arc::clone(run), Arc::clone(&program), Arc::clone(&waiting));
        waiting.number.fetch_add(1, Ordering::SeqCst);
        let work = settings.clone().scope(async move {
            waiting.number.fetch_sub(1, Ordering::SeqCst);
            waiting.changed.notify_one();
            run.work(Some(row), &*program).await;
        });
        #[cfg(feature = "lm")]
        let work = crate::lm::replay::in_scope(work);
        tasks.spawn(work);
    };
    let _wake_up = WakeUp::start(&Handle::current());
    let mut tasks = JoinSet::new();
    // A single thread waits for no row.
    let most_waiting = match number_of_threads(run.concurrency) {
        1 => 1,
        threads => 2 * threads,
    };
    let (mut has_rows, mut grace_period) = (true, None);
    let mut stop = pin!(stop_signal(run.stop_when.as_ref()));
    while has_rows || !tasks.is_empty() {
        let waits = waiting.number.load(Ordering::SeqCst) >= most_waiting;
        let takes_row = has_rows && !waits && tasks.len() < run.concurrency;
        tokio::select! {
            biased;
            () = &mut stop, if !run.stop.is_requested() => run.stop.request(),
            () = run.stop.requested(), if grace_period.is_none() => {
                grace_period = Some(run.start_grace_period());
            }
            () = run.stop.abandoned() => {
                has_rows = false;
                abandon(&mut tasks, &run.stop).await;
            }
            Some(ended) = tasks.join_next() => ended.or_else(check_task)?,
            () = waiting.changed.notified(), if waits => {}
            row = run.source.next(&run.stop), if takes_row => match row {
                Some(row) => spawn(&mut tasks, row),
                None => has_rows = false,
            },
        }
        if run.source.failed() {
            // There will be no result, so the remaining work is cancelled.
            has_rows = false;
            tasks.shutdown().await;
        }
    }
    Ok(())
}

/// The tasks that were spawned and have not begun.
#[derive(Default)]
struct Waiting {
    number: AtomicUsize,
    changed: Notify,
}

/// Cancels the tasks. One that computes without awaiting anything cannot be cancelled: the run ends without it, and its
/// row is not recorded.
async fn abandon(tasks: &mut JoinSet<()>, stop: &Stop) {
    tokio::select! {
        () = tasks.shutdown() => {}
        () = stop.given_up() => tasks.detach_all(),
    }
}

/// Returns an error if a task panicked. A cancelled task only abandoned its row.
fn check_task(error: JoinError) -> Result<(), EvaluateError> {
    match error.try_into_panic() {
        Ok(payload) => Err(EvaluateError::Worker { message: panic::into_message(payload) }),
        Err(_) => Ok(()),
    }
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
            match self.plan.finish(index, input, program, self.journal.as_ref()).await {
                Ok(row) => {
                    self.render(index, &row, &mut line);
                    self.observers.notify(|observer| observer.on_row(&row));
                    self.record(|collector| {
                        collector.write(&mut line);
                        drop(collector.record(index, row));
                    });
                }
                Err(error) => return self.source.fail(index, error),
            }
            // Rows that happen not to wait let other tasks run, too.
            tokio::task::consume_budget().await;
            next = self.source.take(&self.stop);
        }
    }
}
