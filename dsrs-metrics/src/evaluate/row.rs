//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! Rows come from `source.rs`; outcomes are collected in `collector.rs`.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::Instant;

use super::repeats::{self, Repeat, RepeatPred};
use super::row_result::RowResult;
use super::source::Input;
use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::dedup::key::Key;
use crate::core::dedup::memo::{self, Sharing};
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::metric::Metric;
use crate::core::outcome::Outcome;
use crate::core::panic::{self, Panic};
use crate::core::program_run::ProgramRun;
use crate::core::repeat::RepeatNumber;
use crate::core::requirements::Requirement;
use crate::core::score::Scored;
use crate::core::settings::Settings;
use crate::core::spec::{ScoreKind, ScoreRange};
use crate::evaluate::program::Program;

/// A metric with those of its properties that every row needs.
pub(super) struct MetricEntry<'a, G, P> {
    pub(super) name: String,
    pub(super) kind: ScoreKind,
    pub(super) range: Option<ScoreRange>,
    /// The fields that it reads, as `gold.NAME` and `pred.NAME`.
    pub(super) reads: Vec<String>,
    metric: Arc<dyn Metric<G, P> + 'a>,
    key: Option<Key>,
}

impl<G, P> Clone for MetricEntry<'_, G, P> {
    fn clone(&self) -> Self {
        let Self { name, kind, range, reads, metric, key } = self;
        let (name, reads, key) = (name.clone(), reads.clone(), key.clone());
        Self { name, kind: *kind, range: *range, reads, metric: Arc::clone(metric), key }
    }
}

impl<'a, G: Sync, P: Sync> MetricEntry<'a, G, P> {
    pub(super) fn new(metric: Arc<dyn Metric<G, P> + 'a>) -> Self {
        let spec = metric.spec();
        let (kind, reads) = (spec.kind, spec.get_input_fields().collect());
        let range = if spec.strict { Some(ScoreRange::UNIT) } else { spec.range };
        // The key of the metric itself, not that of this pointer to it.
        let (name, key) = (metric.name().to_owned(), (*metric).key());
        Self { name, kind, range, reads, key, metric }
    }
}

impl<G: Sync, P: Sync> MetricEntry<'_, G, P> {
    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        memo::answer(&*self.metric, self.key.as_ref(), call)
    }
}

/// The settings of the evaluation of one row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowOptions {
    pub(super) timeout: Option<Duration>,
    pub(super) resubmit_after: Option<Duration>,
    pub(super) traceback: bool,
    /// How often a row is evaluated, if that is set; 1 is different from `None` only in what is reported.
    pub(super) repeats: Option<u32>,
    /// The score of a repeat that failed.
    pub(super) failure_score: f64,
    /// Whether details and feedback of the scores are read.
    pub(super) is_explained: bool,
}

/// How every row is evaluated.
pub(super) struct Plan<'a, G, P> {
    pub(super) metrics: Vec<MetricEntry<'a, G, P>>,
    pub(super) options: RowOptions,
    /// The metrics or components that occur more than once.
    pub(super) sharing: Option<Sharing>,
}

/// Returns the metrics or components that occur more than once.
pub(super) fn sharing<G: Sync, P: Sync>(metrics: &[MetricEntry<'_, G, P>]) -> Option<Sharing> {
    let mut all = Vec::new();
    metrics.iter().for_each(|entry| entry.metric.keys(&mut all));
    Sharing::among(&all)
}

/// Returns all requirements of the metrics.
pub(super) fn requirements<G: Sync, P: Sync>(
    metrics: &[MetricEntry<'_, G, P>],
) -> Vec<Requirement> {
    let mut all = Vec::new();
    metrics.iter().for_each(|entry| entry.metric.requirements(&mut all));
    all
}

type Attempt<T> = Result<T, Failure>;

/// Why an awaited call of user code returned nothing.
enum Failure {
    Panicked(Panic),
    TimedOut,
}

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(super) async fn finish<Kind>(
        &self,
        index: u64,
        input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
    ) -> RowResult<G, P> {
        let mut row = RowResult {
            id: input.id.unwrap_or_else(|| index.to_string()),
            gold: input.gold,
            pred: input.pred,
            run: None,
            outcomes: Vec::new(),
            repeats: Vec::new(),
            attributes: input.attributes,
            origin: input.origin,
            traceback: None,
        };
        match self.options.repeats {
            None => self.evaluate(&mut row, program).await,
            Some(repeats) => self.evaluate_repeatedly(&mut row, program, repeats).await,
        }
        row
    }

    /// Evaluates a row several times, one after another, and reduces the outcomes of each metric to one.
    async fn evaluate_repeatedly<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        repeats: u32,
    ) {
        let is_predicted = row.pred.is_none();
        let mut pred = row.pred.take();
        let mut traceback = None;
        for number in 0..repeats {
            row.pred = pred.take_if(|_| !is_predicted);
            let settings = Settings::new().with(RepeatNumber(number));
            settings.scope(self.evaluate(row, program)).await;
            traceback = traceback.or(row.traceback.take());
            let own = match row.pred.take() {
                None => RepeatPred::None,
                Some(first) if pred.is_none() => {
                    pred = Some(first);
                    RepeatPred::OfRow
                }
                Some(other) => RepeatPred::Own(other),
            };
            let (run, outcomes) = (row.run.take(), std::mem::take(&mut row.outcomes));
            row.repeats.push(Repeat { pred: own, run, outcomes });
        }
        (row.pred, row.traceback) = (pred, traceback);
        let of_metric = |metric: usize| {
            let outcomes: Vec<_> =
                row.repeats.iter().map(|repeat| &repeat.outcomes[metric]).collect();
            repeats::reduce(&outcomes, self.options.failure_score)
        };
        row.outcomes = (0..self.metrics.len()).map(of_metric).collect();
    }

    async fn evaluate<Kind>(&self, row: &mut RowResult<G, P>, program: &impl Program<G, P, Kind>) {
        let deadline = self.options.timeout.map(|timeout| Instant::now() + timeout);
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline).await {
                Ok((pred, run)) => (row.pred, row.run) = (Some(pred), Some(Box::new(run))),
                Err((error, traceback)) => {
                    let error: Arc<str> = error.into();
                    let failed = |_: &_| Outcome::ProgramFailed { error: Arc::clone(&error) };
                    row.outcomes = self.metrics.iter().map(failed).collect();
                    row.traceback = traceback;
                }
            }
        }
        if let Some(pred) = &row.pred {
            let call = MetricCall { run: row.run.as_deref(), ..MetricCall::new(&*row.gold, pred) };
            let call = if self.options.is_explained { call } else { call.without_explanation() };
            let memo = self.sharing.as_ref().map(|sharing| sharing.memo(&call));
            let call = call.with_memo(memo.as_ref());
            (row.outcomes, row.traceback) = self.score(call, deadline).await;
        }
    }

    async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
    ) -> Result<(P, ProgramRun), (String, Option<String>)> {
        // The call is made in an async block because it may panic before its first await.
        let start = |_| async {
            let started = Instant::now();
            let (prediction, run) = program.output(gold).await?.into_parts();
            Ok((prediction, run.measured(started.elapsed())))
        };
        match self.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(|error| (error, None)),
            Err(Failure::Panicked(panic)) => {
                let error = format!("the program panicked: {}", panic.message);
                Err((error, panic.traceback))
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                Err((format!("the program returned no prediction within {seconds} s"), None))
            }
        }
    }

    /// Evaluates all metrics: the ready answers first, then the pending ones concurrently.
    async fn score(
        &self,
        call: MetricCall<'_, G, P>,
        deadline: Option<Instant>,
    ) -> (Vec<Outcome>, Option<String>) {
        let mut outcomes = Vec::with_capacity(self.metrics.len());
        let mut tracebacks = Vec::new();
        let mut pending = Vec::new();
        for (position, entry) in self.metrics.iter().enumerate() {
            let attempt = match panic::catch(self.options.traceback, || entry.answer(call)) {
                Ok(Answer::Pending(future)) => {
                    // Replaced when the call has finished.
                    outcomes.push(Outcome::Abstained);
                    pending.push((
                        position,
                        entry,
                        self.await_answer(entry, call, future, deadline),
                    ));
                    continue;
                }
                Ok(Answer::Ready(result)) => unless_late(Ok(result), is_conclusive, deadline),
                Err(panic) => Err(Failure::Panicked(panic)),
            };
            outcomes.push(self.outcome(entry, attempt, &mut tracebacks));
        }
        let pending = pending
            .into_iter()
            .map(|(position, entry, attempt)| async move { (position, entry, attempt.await) });
        for (position, entry, attempt) in join_all(pending).await {
            outcomes[position] = self.outcome(entry, attempt, &mut tracebacks);
        }
        let traceback = (!tracebacks.is_empty()).then(|| tracebacks.join("\n"));
        (outcomes, traceback)
    }

    async fn await_answer<'a>(
        &'a self,
        entry: &'a MetricEntry<'_, G, P>,
        call: MetricCall<'a, G, P>,
        future: BoxFuture<'a, Result<Scored, MetricError>>,
        deadline: Option<Instant>,
    ) -> Attempt<Result<Scored, MetricError>> {
        let first = Mutex::new(Some(future));
        let start = |_| {
            let first = first.lock().ok().and_then(|mut first| first.take());
            // Without the memo, since a second attempt must not wait for the answer of the first.
            let again = || entry.answer(MetricCall { memo: None, ..call });
            async move { first.map_or_else(again, Answer::Pending).await }
        };
        self.attempt(start, is_conclusive, deadline).await
    }

    fn outcome(
        &self,
        entry: &MetricEntry<'_, G, P>,
        attempt: Attempt<Result<Scored, MetricError>>,
        tracebacks: &mut Vec<String>,
    ) -> Outcome {
        let metric = || entry.name.clone();
        match attempt {
            Ok(scored) => Outcome::from(scored),
            Err(Failure::Panicked(panic)) => {
                tracebacks.extend(panic.traceback);
                Outcome::MetricFailed { error: MetricError::panicked(metric(), panic.message) }
            }
            Err(Failure::TimedOut) => Outcome::MetricFailed {
                error: MetricError::new(
                    metric(),
                    MetricErrorKind::TimedOut {
                        seconds: self.options.timeout.unwrap_or_default().as_secs_f64(),
                    },
                ),
            },
        }
    }

    /// Awaits a call of user code within the row's deadline, with a second attempt if it is slow.
    async fn attempt<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
        deadline: Option<Instant>,
    ) -> Attempt<F::Output> {
        let attempts = self.first_of_two(start, is_conclusive);
        match deadline {
            None => attempts.await,
            Some(deadline) => {
                let attempts = tokio::time::timeout_at(deadline, attempts);
                let attempt = attempts.await.unwrap_or(Err(Failure::TimedOut));
                unless_late(attempt, is_conclusive, Some(deadline))
            }
        }
    }

    /// Starts a second attempt at a slow call, and never a third. The first conclusive result wins; the
    /// other call is dropped, which cancels it. If one attempt fails or panics, the other is awaited. If
    /// both fail, the failure of the first is returned.
    async fn first_of_two<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_conclusive: fn(&Result<T, E>) -> bool,
    ) -> Attempt<F::Output> {
        // The call is made within the future because it may panic before it returns one.
        let attempt = async |first| {
            let called = panic::catch_async(self.options.traceback, async { start(first).await });
            called.await.map_err(Failure::Panicked)
        };
        let succeeded = |attempt: &Attempt<F::Output>| attempt.as_ref().is_ok_and(is_conclusive);
        let Some(delay) = self.options.resubmit_after else {
            return attempt(true).await;
        };
        let mut first = pin!(attempt(true));
        if let Ok(output) = tokio::time::timeout(delay, first.as_mut()).await {
            return output;
        }
        let mut second = pin!(attempt(false));
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

/// Turns a conclusive result after the deadline into a timeout; a failure is returned unchanged.
fn unless_late<T, E>(
    attempt: Attempt<Result<T, E>>,
    is_conclusive: fn(&Result<T, E>) -> bool,
    deadline: Option<Instant>,
) -> Attempt<Result<T, E>> {
    let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    match attempt {
        Ok(result) if is_conclusive(&result) && late() => Err(Failure::TimedOut),
        attempt => attempt,
    }
}

/// Returns whether a result is final: a score or an abstention.
fn is_conclusive(scored: &Result<Scored, MetricError>) -> bool {
    scored.as_ref().map_or_else(|error| *error.kind() == MetricErrorKind::Abstained, |_| true)
}
