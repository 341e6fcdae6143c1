//! One row: its prediction, then its scores, with timeout, second attempt and panics.
//!
//! Which row comes next is decided in `source.rs`, what becomes of the outcome in `collector.rs`.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::Instant;

use super::source::Input;
use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::dedup::key::Key;
use crate::core::dedup::memo::{self, Sharing};
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::metric::Metric;
use crate::core::outcome::Outcome;
use crate::core::panic::{self, Panic};
use crate::core::requirements::Requirement;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Origin;
use crate::core::score::Scored;
use crate::core::spec::ScoreKind;
use crate::evaluate::program::Program;

/// One row of a result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowResult<G, P> {
    /// The row's name: given by its source, or its position from 0.
    pub id: String,
    /// The labelled example.
    pub gold: Arc<G>,
    /// The prediction; `None` if the program failed.
    pub pred: Option<P>,
    /// What became of the row under each metric, in the order of the metrics.
    pub outcomes: Vec<Outcome>,
    /// Everything else that the row carries.
    pub attributes: Fields,
    /// Where the row stands, if it comes from a file.
    pub origin: Option<Origin>,
    /// Where the program and metrics panicked, if they did and tracebacks were asked for.
    pub traceback: Option<String>,
}

impl<G, P> RowResult<G, P> {
    /// The score under the first metric, if it gave one.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        self.outcomes.first()?.value()
    }

    /// Whether the program or any metric failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.outcomes.iter().any(Outcome::is_failure)
    }
}

/// A metric with what is asked for row by row.
pub(super) struct MetricEntry<'a, G, P> {
    pub(super) name: String,
    pub(super) kind: ScoreKind,
    /// The fields that it reads, as `gold.NAME` and `pred.NAME`.
    pub(super) reads: Vec<String>,
    metric: Box<dyn Metric<G, P> + 'a>,
    key: Option<Key>,
}

impl<'a, G: Sync, P: Sync> MetricEntry<'a, G, P> {
    pub(super) fn new(metric: impl Metric<G, P> + 'a) -> Self {
        let spec = metric.spec();
        let (kind, reads) = (spec.kind, spec.get_input_fields().collect());
        let (name, key) = (metric.name().to_owned(), metric.key());
        Self { name, kind, reads, key, metric: Box::new(metric) }
    }
}

impl<G: Sync, P: Sync> MetricEntry<'_, G, P> {
    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        memo::answer(&*self.metric, self.key.as_ref(), call)
    }
}

/// How every row is treated.
pub(super) struct Plan<'a, G, P> {
    pub(super) metrics: Vec<MetricEntry<'a, G, P>>,
    pub(super) timeout: Option<Duration>,
    pub(super) resubmit_after: Option<Duration>,
    pub(super) traceback: bool,
    /// What several metrics have in common.
    pub(super) sharing: Option<Sharing>,
}

/// What metrics or their components have in common.
pub(super) fn sharing<G: Sync, P: Sync>(metrics: &[MetricEntry<'_, G, P>]) -> Option<Sharing> {
    let mut all = Vec::new();
    metrics.iter().for_each(|entry| entry.metric.keys(&mut all));
    Sharing::among(&all)
}

/// Everything that the metrics require.
pub(super) fn requirements<G: Sync, P: Sync>(
    metrics: &[MetricEntry<'_, G, P>],
) -> Vec<Requirement> {
    let mut all = Vec::new();
    metrics.iter().for_each(|entry| entry.metric.requirements(&mut all));
    all
}

type Attempt<T> = Result<T, Failure>;

/// Why an awaited call of the user's gave nothing.
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
        let deadline = self.timeout.map(|timeout| Instant::now() + timeout);
        let mut row = RowResult {
            id: input.id.unwrap_or_else(|| index.to_string()),
            gold: input.gold,
            pred: input.pred,
            outcomes: Vec::new(),
            attributes: input.attributes,
            origin: input.origin,
            traceback: None,
        };
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline).await {
                Ok(pred) => row.pred = Some(pred),
                Err((error, traceback)) => {
                    let error: Arc<str> = error.into();
                    let failed = |_: &_| Outcome::ProgramFailed { error: Arc::clone(&error) };
                    row.outcomes = self.metrics.iter().map(failed).collect();
                    row.traceback = traceback;
                }
            }
        }
        if let Some(pred) = &row.pred {
            let call = MetricCall::new(&*row.gold, pred);
            let memo = self.sharing.as_ref().map(|sharing| sharing.memo(&call));
            let call = call.with_memo(memo.as_ref());
            (row.outcomes, row.traceback) = self.score(call, deadline).await;
        }
        row
    }

    async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
    ) -> Result<P, (String, Option<String>)> {
        // The call stands in an async block because it may panic before its first await.
        let start = |_| async { program.predict(gold).await };
        match self.attempt(start, Result::is_ok, deadline).await {
            Ok(prediction) => prediction.map_err(|error| (error, None)),
            Err(Failure::Panicked(panic)) => {
                let error = format!("the program panicked: {}", panic.message);
                Err((error, panic.traceback))
            }
            Err(Failure::TimedOut) => {
                let seconds = self.timeout.unwrap_or_default().as_secs_f64();
                Err((format!("the program gave no prediction within {seconds} s"), None))
            }
        }
    }

    /// Scores under all metrics: those that need no waiting at once, the others side by side.
    async fn score(
        &self,
        call: MetricCall<'_, G, P>,
        deadline: Option<Instant>,
    ) -> (Vec<Outcome>, Option<String>) {
        let mut outcomes = Vec::with_capacity(self.metrics.len());
        let mut tracebacks = Vec::new();
        let mut waiting = Vec::new();
        for (position, entry) in self.metrics.iter().enumerate() {
            let attempt = match panic::catch(self.traceback, || entry.answer(call)) {
                Ok(Answer::Pending(future)) => {
                    // Replaced when the call has finished.
                    outcomes.push(Outcome::Abstained);
                    waiting.push((position, entry, self.wait_for(entry, call, future, deadline)));
                    continue;
                }
                Ok(Answer::Ready(result)) => in_time(Ok(result), is_answer, deadline),
                Err(panic) => Err(Failure::Panicked(panic)),
            };
            outcomes.push(self.outcome(entry, attempt, &mut tracebacks));
        }
        let waiting = waiting
            .into_iter()
            .map(|(position, entry, attempt)| async move { (position, entry, attempt.await) });
        for (position, entry, attempt) in join_all(waiting).await {
            outcomes[position] = self.outcome(entry, attempt, &mut tracebacks);
        }
        let traceback = (!tracebacks.is_empty()).then(|| tracebacks.join("\n"));
        (outcomes, traceback)
    }

    async fn wait_for<'a>(
        &'a self,
        entry: &'a MetricEntry<'_, G, P>,
        call: MetricCall<'a, G, P>,
        future: BoxFuture<'a, Result<Scored, MetricError>>,
        deadline: Option<Instant>,
    ) -> Attempt<Result<Scored, MetricError>> {
        let first = Mutex::new(Some(future));
        let start = |_| {
            let first = first.lock().ok().and_then(|mut first| first.take());
            // A second attempt that waits for the memoized answer of the first one would be useless.
            let again = || entry.answer(MetricCall { memo: None, ..call });
            async move { first.map_or_else(again, Answer::Pending).await }
        };
        self.attempt(start, is_answer, deadline).await
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
                        seconds: self.timeout.unwrap_or_default().as_secs_f64(),
                    },
                ),
            },
        }
    }

    /// Awaits a call of the user's, within the row's deadline, with a second attempt if it straggles.
    async fn attempt<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_answer: fn(&Result<T, E>) -> bool,
        deadline: Option<Instant>,
    ) -> Attempt<F::Output> {
        let attempts = self.first_of_two(start, is_answer);
        match deadline {
            None => attempts.await,
            Some(deadline) => {
                let attempts = tokio::time::timeout_at(deadline, attempts);
                let attempt = attempts.await.unwrap_or(Err(Failure::TimedOut));
                in_time(attempt, is_answer, Some(deadline))
            }
        }
    }

    /// Starts a straggling call a second time, and never a third. The first answer wins; the other
    /// call is dropped, which cancels it. One that fails or panics waits for the other, and what is
    /// reported if both do is the first one's failure.
    async fn first_of_two<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        start: impl Fn(bool) -> F,
        is_answer: fn(&Result<T, E>) -> bool,
    ) -> Attempt<F::Output> {
        // The call is made within the future because it may panic before there is one.
        let attempt = async |first| {
            let called = panic::catch_async(self.traceback, async { start(first).await });
            called.await.map_err(Failure::Panicked)
        };
        let answers = |attempt: &Attempt<F::Output>| attempt.as_ref().is_ok_and(is_answer);
        let Some(delay) = self.resubmit_after else {
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
                if answers(&output) {
                    return output;
                }
                let other = second.await;
                if answers(&other) { other } else { output }
            }
            output = &mut second => if answers(&output) { output } else { first.await },
        }
    }
}

/// What a call that was not interrupted gave, unless it gave it too late; a failure stays what it is.
fn in_time<T, E>(
    attempt: Attempt<Result<T, E>>,
    is_answer: fn(&Result<T, E>) -> bool,
    deadline: Option<Instant>,
) -> Attempt<Result<T, E>> {
    let late = || deadline.is_some_and(|deadline| Instant::now() > deadline);
    match attempt {
        Ok(result) if is_answer(&result) && late() => Err(Failure::TimedOut),
        attempt => attempt,
    }
}

/// Whether a metric has said what it has to say; having no opinion is one.
fn is_answer(scored: &Result<Scored, MetricError>) -> bool {
    scored.as_ref().map_or_else(|error| *error.kind() == MetricErrorKind::Abstained, |_| true)
}
