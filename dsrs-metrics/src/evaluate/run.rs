//! Workers: so many as have something to do, up to the concurrency, each pulling rows until there are
//! none.
//!
//! A worker is one task for the whole run, not one a row, so nothing is spawned per row and tokio
//! spreads them over its threads.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, join_all};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::Options;
use super::collector::{Collector, Keeping};
use super::crew::Crew;
use super::error::EvaluateError;
use super::result::{Ending, EvaluationResult};
use super::row::{Plan, RowResult};
use super::source::Source;
use super::stop::Stop;
use super::summary::Tally;
use crate::core::panic;
use crate::core::requirements;
use crate::core::settings::Settings;
use crate::evaluate::program::Program;
use crate::evaluate::report::{Progress, Render, ResultFiles};

/// How long a worker may keep its thread from timers, signals and other tasks.
const LONGEST_TURN: Duration = Duration::from_millis(5);

/// Stands where rows bring their predictions along.
pub(super) struct Given;

impl<G: Sync, P> Program<G, P, Given> for Given {
    async fn predict(&self, _: &G) -> Result<P, String> {
        Err("the row has no prediction".to_owned())
    }
}

/// All that the workers of one run share.
struct Run<'a, G, P> {
    plan: Arc<Plan<'a, G, P>>,
    names: Vec<String>,
    source: Source<'a, G, P>,
    crew: Crew,
    stop: Arc<Stop>,
    stop_when: Option<Shared<BoxFuture<'static, ()>>>,
    collector: Mutex<Collector<G, P>>,
    /// Present if rows are written.
    render: Option<Render<G, P>>,
    started: Instant,
}

/// Runs on tasks of their own, on all of the runtime's threads.
pub(super) async fn spawned<G, P, Kind>(
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
    requirements::probe(super::row::requirements(&plan.metrics)).await?;
    let run = Arc::new(Run::prepare(plan, source, render, options)?);
    #[cfg(feature = "ctrl-c")]
    let _listening = match options.stop_on_ctrl_c {
        true => super::ctrl_c::listen(Arc::clone(&run.stop)).await,
        false => None,
    };
    let program = Arc::new(program);
    let settings = Settings::current();
    let hire = |workers: &mut JoinSet<()>| {
        let (run, program) = (Arc::clone(&run), Arc::clone(&program));
        let work = async move { run.work(&*program).await };
        workers.spawn(settings.clone().scope(work));
    };
    supervise(&run, hire).await?;
    let run = Arc::into_inner(run).ok_or_else(|| EvaluateError::Worker {
        message: "it still holds the results".to_owned(),
    })?;
    run.finish(options)
}

/// Runs within the calling task, so that program and metrics may borrow.
pub(super) async fn local<'a, G, P, Kind>(
    plan: Plan<'a, G, P>,
    source: Source<'a, G, P>,
    program: &impl Program<G, P, Kind>,
    options: &Options<G, P>,
) -> Result<EvaluationResult<G, P>, EvaluateError>
where
    G: Send + Sync,
    P: Send + Sync,
{
    requirements::probe(super::row::requirements(&plan.metrics)).await?;
    let run = Run::prepare(Arc::new(plan), source, super::score_line, options)?;
    // Within one task there is nobody to hire more when they are needed, but rows are counted here.
    let (_, rows) = run.source.size_hint();
    let workers = options.concurrency.min(rows.unwrap_or(usize::MAX));
    join_all((0..workers).map(|_| run.work(program))).await;
    run.finish(options)
}

fn check_runtime<G, P>(plan: &Plan<'_, G, P>) -> Result<(), EvaluateError> {
    let missing = |missing| EvaluateError::Runtime { missing };
    Handle::try_current().map_err(|_| missing("there is no tokio runtime"))?;
    if plan.timeout.or(plan.resubmit_after).is_none() {
        return Ok(());
    }
    let timer = panic::catch(false, || drop(tokio::time::sleep(std::time::Duration::ZERO)));
    timer.map_err(|_| missing("the tokio runtime has no timers"))
}

/// Has the workers hired and waits for them.
async fn supervise<G, P>(
    run: &Run<'_, G, P>,
    hire: impl Fn(&mut JoinSet<()>),
) -> Result<(), EvaluateError> {
    let mut workers = JoinSet::new();
    (0..run.crew.hired()).for_each(|_| hire(&mut workers));
    let mut stop = pin!(stop_signal(run.stop_when.as_ref()));
    loop {
        tokio::select! {
            biased;
            ended = workers.join_next() => match ended {
                None => return Ok(()),
                Some(Ok(())) if run.source.failed() => {
                    // The result is lost anyway, so nothing more is spent on it.
                    workers.shutdown().await;
                    return Ok(());
                }
                Some(Ok(())) => {}
                Some(Err(error)) => check_worker(error)?,
            },
            () = &mut stop, if !run.stop.asked() => run.stop.ask(),
            () = run.stop.abandoned() => workers.shutdown().await,
            more = run.crew.more() => (0..more).for_each(|_| hire(&mut workers)),
        }
    }
}

/// Waits for a row, whose turn begins anew whenever it goes on after a wait: meanwhile others had theirs. To give way
/// once more at its end would put it behind all who have woken with it.
async fn restarting<T>(
    turn: &mut std::time::Instant,
    mut row: Pin<&mut impl Future<Output = T>>,
) -> T {
    let mut has_waited = false;
    poll_fn(|context| {
        if has_waited {
            *turn = std::time::Instant::now();
        }
        has_waited = true;
        row.as_mut().poll(context)
    })
    .await
}

/// A worker that was cancelled gave up its row; one that panicked is an error.
fn check_worker(error: JoinError) -> Result<(), EvaluateError> {
    match error.try_into_panic() {
        Ok(payload) => Err(EvaluateError::Worker { message: panic::message(&*payload) }),
        Err(_) => Ok(()),
    }
}

async fn stop_signal(signal: Option<&Shared<BoxFuture<'static, ()>>>) {
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
    ) -> Result<Self, EvaluateError> {
        let files = ResultFiles::create(&options.outputs)?;
        let render = files.is_some().then_some(render);
        let tally =
            |metric: &super::row::MetricEntry<'_, G, P>| Tally::new(&metric.name, metric.kind);
        let (expected, total) = source.size_hint();
        let keep_below = if options.keep_results { u64::MAX } else { options.table_rows as u64 };
        let keeping = Keeping {
            keep_below,
            expected: expected.min(super::source::MOST_EXPECTED),
            max_errors: options.max_errors,
            failure_score: options.failure_score,
            files,
            progress: Progress::new(options.progress, total.map(|total| total as u64)),
        };
        Ok(Self {
            names: plan.metrics.iter().map(|metric| metric.name.clone()).collect(),
            collector: Mutex::new(Collector::new(
                plan.metrics.iter().map(tally).collect(),
                keeping,
            )),
            plan,
            crew: Crew::new(options.concurrency.min(total.unwrap_or(usize::MAX).max(1))),
            source,
            stop: Arc::default(),
            stop_when: options.stop_when.clone(),
            render,
            started: Instant::now(),
        })
    }

    async fn work<Kind>(&self, program: &impl Program<G, P, Kind>) {
        let mut line = Vec::new();
        let mut turn = std::time::Instant::now();
        while let Some((index, input)) = self.source.pull(&self.stop).await {
            self.crew.begin_row();
            let row = restarting(&mut turn, pin!(self.plan.finish(index, input, program))).await;
            self.crew.end_row();
            if let Some(render) = self.render {
                line.clear();
                self.render_row(render, &row, &mut line);
            }
            self.record(index, row, &line);
            // Rows that never wait must still let timers, signals and other tasks have their turn:
            // short ones after so many, which costs least, and long ones after so much time.
            if turn.elapsed() < LONGEST_TURN {
                tokio::task::consume_budget().await;
            } else {
                self.look_for_stop();
                tokio::task::yield_now().await;
                turn = std::time::Instant::now();
            }
        }
    }

    /// Looks itself, because other workers may keep the one who waits for it from its turn.
    fn look_for_stop(&self) {
        let signal = self.stop_when.as_ref().filter(|_| !self.stop.asked());
        if signal.is_some_and(|signal| signal.clone().now_or_never().is_some()) {
            self.stop.ask();
        }
    }

    fn render_row(&self, render: Render<G, P>, row: &RowResult<G, P>, line: &mut Vec<u8>) {
        if panic::catch(false, || render(row, &self.names, line)).is_err() {
            line.clear();
            super::score_line(row, &self.names, line);
        }
    }

    fn record(&self, index: u64, row: RowResult<G, P>, line: &[u8]) {
        let mut collector = self.collector.lock().unwrap_or_else(PoisonError::into_inner);
        collector.record(index, row, line);
        if collector.is_full() {
            self.stop.set();
        }
    }

    fn finish(self, options: &Options<G, P>) -> Result<EvaluationResult<G, P>, EvaluateError> {
        let stopped = self.stop.asked();
        let mut collector = self.collector.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = self.source.into_error() {
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
            rows: collector.rows,
            failed_rows: finished.failed_rows,
            first_error: finished.first_error,
            ending: match collector.output_error {
                Some(error) => Ending::OutputFailed(error),
                None if collector.too_many_errors => Ending::MaxErrors,
                None if stopped => Ending::Stopped,
                None => Ending::Complete,
            },
            elapsed: self.started.elapsed(),
            reads: self.plan.metrics.iter().flat_map(|metric| metric.reads.clone()).collect(),
            names: self.names,
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
