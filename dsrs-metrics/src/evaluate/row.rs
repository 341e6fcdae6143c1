//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! Rows come from `source.rs`; outcomes are collected in `collector.rs`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::Instant;

use super::attempt::{Attempt, Failure, is_conclusive, unless_late};
use super::error::EvaluateError;
use super::journal::{JournalRow, JournaledRow, Predicted, RowToJournal, RunJournal, StoredScores};
use super::metric_entry::MetricEntry;
use super::repeats::{self, Repeat, RepeatPred};
use super::row_result::RowResult;
use super::source::Input;
use crate::core::answer::Answer;
use crate::core::call::MetricCall;
use crate::core::dedup::memo::Sharing;
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::outcome::Outcome;
use crate::core::panic;
use crate::core::program_run::ProgramRun;
use crate::core::repeat::RepeatNumber;
use crate::core::score::Scored;
use crate::core::settings::Settings;

use crate::evaluate::program::Program;

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
    /// Whether a row of a file that a metric cannot read ends the run.
    pub(super) rejects_unreadable: bool,
    /// Whether details and feedback of the scores are read.
    pub(super) is_explained: bool,
}

/// How every row is evaluated.
pub(super) struct Plan<'a, G, P> {
    pub(super) metrics: Vec<MetricEntry<'a, G, P>>,
    pub(super) options: RowOptions,
    /// The metrics or components that occur more than once.
    sharing: Option<Sharing>,
    /// The fields that the program receives of the rows that do not declare their own.
    pub(super) inputs: Option<Arc<[String]>>,
    /// Whether rows with predictions can be evaluated without awaiting anything.
    pub(super) is_immediate: bool,
}

impl<'a, G, P> Plan<'a, G, P> {
    pub(super) fn new(
        metrics: Vec<MetricEntry<'a, G, P>>,
        options: RowOptions,
        sharing: Option<Sharing>,
        inputs: Option<Arc<[String]>>,
    ) -> Self {
        let RowOptions { timeout, repeats, .. } = options;
        let waits = timeout.is_some() || repeats.is_some();
        let is_immediate = !waits && !metrics.iter().any(|entry| entry.is_async);
        Self { metrics, options, sharing, inputs, is_immediate }
    }
}

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    /// Scores a row with a prediction without awaiting anything. Returns the backtraces of panics, or `None` if a
    /// metric has to wait after all.
    pub(super) fn score_now(
        &self,
        call: MetricCall<'_, G, P>,
        outcomes: &mut Vec<Outcome>,
    ) -> Option<Option<String>> {
        outcomes.clear();
        let memo = self.sharing.as_ref().map(|sharing| sharing.memo(&call));
        let call = call.with_memo(memo.as_ref());
        let mut tracebacks = Vec::new();
        for entry in &self.metrics {
            let attempt = match panic::catch(self.options.traceback, || entry.answer(call)) {
                Ok(Answer::Ready(result)) => Ok(result),
                // The spec is wrong about the metric. Nothing has happened, since the future was not polled.
                Ok(Answer::Pending(_)) => return None,
                Err(panic) => Err(Failure::Panicked(panic)),
            };
            let (outcome, traceback) = self.outcome(entry, attempt);
            tracebacks.extend(traceback);
            outcomes.push(outcome);
        }
        Some(joined(&tracebacks))
    }

    pub(super) fn call<'a>(
        &self,
        gold: &'a G,
        pred: &'a P,
        run: Option<&'a ProgramRun>,
    ) -> MetricCall<'a, G, P> {
        let call = MetricCall { run, ..MetricCall::new(gold, pred) };
        if self.options.is_explained { call } else { call.without_explanation() }
    }

    pub(super) async fn finish<Kind>(
        &self,
        index: u64,
        input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&RunJournal<G, P>>,
    ) -> Result<RowResult<G, P>, EvaluateError> {
        let mut row = RowResult::begin(index, input);
        let journaled = journal.map(|journal| journal.row(index, &row));
        let journaled = journaled.as_ref();
        let is_restored = match self.options.repeats {
            None => self.evaluate(&mut row, program, (journaled, 0)).await?,
            Some(repeats) => {
                // Boxed, so that a row that is evaluated once takes less memory.
                let rows = self.evaluate_repeatedly(&mut row, program, repeats, journaled);
                Box::pin(rows).await?
            }
        };
        journal.filter(|_| is_restored).inspect(|journal| journal.count_restored());
        Ok(row)
    }

    /// Evaluates a row several times, one after another, and reduces the outcomes of each metric to one.
    async fn evaluate_repeatedly<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        repeats: u32,
        journal: Option<&RowToJournal<'_, G, P>>,
    ) -> Result<bool, EvaluateError> {
        let is_predicted = row.pred.is_none();
        let mut pred = row.pred.take();
        let mut traceback = None;
        let mut is_restored = true;
        for number in 0..repeats {
            row.pred = pred.take_if(|_| !is_predicted);
            let settings = Settings::new().with(RepeatNumber(number));
            let evaluated = self.evaluate(row, program, (journal, number));
            is_restored &= settings.scope(evaluated).await?;
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
        Ok(is_restored)
    }

    /// Evaluates a row, and returns whether the journal had everything of it. A row that the budget skipped was not
    /// recorded.
    async fn evaluate<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        (journal, repeat): (Option<&RowToJournal<'_, G, P>>, u32),
    ) -> Result<bool, EvaluateError> {
        let Some(journal) = journal else {
            self.evaluate_once(row, program, None).await;
            return Ok(false);
        };
        let journal = journal.repeat(repeat).await?;
        journal.scope(self.evaluate_once(row, program, Some(&journal))).await;
        let is_skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped { .. });
        Ok(journal.row.is_restored() && !row.outcomes.iter().any(is_skipped))
    }

    async fn evaluate_once<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&JournaledRow<G, P>>,
    ) {
        let deadline = self.options.timeout.map(|timeout| Instant::now() + timeout);
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline, journal).await {
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
            let call = self.call(&row.gold, pred, row.run.as_deref());
            if journal.is_none() && self.is_immediate {
                let mut outcomes = Vec::with_capacity(self.metrics.len());
                if let Some(traceback) = self.score_now(call, &mut outcomes) {
                    (row.outcomes, row.traceback) = (outcomes, traceback);
                    return;
                }
            }
            let memo = self.sharing.as_ref().map(|sharing| sharing.memo(&call));
            let call = call.with_memo(memo.as_ref());
            let journal = journal.map(|journal| &*journal.row);
            (row.outcomes, row.traceback) = self.score(call, deadline, journal).await;
        }
    }

    async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
        journal: Option<&JournaledRow<G, P>>,
    ) -> Predicted<P> {
        if let Some(journal) = journal {
            match journal.predicted() {
                Some(predicted) => return predicted,
                // The program may return another prediction this time.
                None => journal.row.forget_outcomes(),
            }
        }
        // The call is made in an async block because it may panic before its first await.
        let start = |_| async {
            let started = Instant::now();
            let (prediction, run) =
                program.output(gold, self.inputs.as_deref()).await?.into_parts();
            Ok((prediction, run.measured(started.elapsed())))
        };
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(|error| (error, None)),
            Err(Failure::Panicked(panic)) => {
                let error = format!("the program panicked: {}", panic.message);
                Err((error, panic.traceback))
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                Err((format!("the program returned no prediction within {seconds} s"), None))
            }
        };
        if let Some(journal) = journal {
            journal.record(&predicted);
        }
        predicted
    }

    /// Evaluates all metrics that no journal has the outcome of: the ready answers first, then the pending ones
    /// concurrently.
    async fn score(
        &self,
        call: MetricCall<'_, G, P>,
        deadline: Option<Instant>,
        journal: Option<&JournalRow>,
    ) -> (Vec<Outcome>, Option<String>) {
        let (mut restored, mut tracebacks) =
            journal.map(JournalRow::take_outcomes).unwrap_or_default();
        let mut outcomes = Vec::with_capacity(self.metrics.len());
        let mut new = StoredScores::default();
        let mut pending = Vec::new();
        for (position, entry) in self.metrics.iter().enumerate() {
            if let Some(outcome) = restored.remove(&position).filter(|it| entry.is_possible(it)) {
                outcomes.push(outcome);
                continue;
            }
            let attempt = match panic::catch(self.options.traceback, || entry.answer(call)) {
                Ok(Answer::Pending(future)) => {
                    // Replaced when the call has finished.
                    outcomes.push(Outcome::Abstained);
                    pending.push(async move {
                        let attempt = self.await_answer(entry, call, future, deadline).await;
                        let (outcome, traceback) = self.outcome(entry, attempt);
                        record_one(journal, position, &outcome, traceback.as_ref());
                        (position, outcome, traceback)
                    });
                    continue;
                }
                Ok(Answer::Ready(result)) => unless_late(Ok(result), is_conclusive, deadline),
                Err(panic) => Err(Failure::Panicked(panic)),
            };
            let (outcome, traceback) = self.outcome(entry, attempt);
            if journal.is_some() {
                new.add(position, &outcome, traceback.as_deref());
            }
            tracebacks.extend(traceback);
            outcomes.push(outcome);
        }
        if let Some(journal) = journal {
            journal.record_scores(new, false);
        }
        for (position, outcome, traceback) in join_all(pending).await {
            outcomes[position] = outcome;
            tracebacks.extend(traceback);
        }
        (outcomes, joined(&tracebacks))
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
        self.options.attempt(start, is_conclusive, deadline).await
    }

    /// Returns the outcome of a call, and the backtrace of a panic.
    fn outcome(
        &self,
        entry: &MetricEntry<'_, G, P>,
        attempt: Attempt<Result<Scored, MetricError>>,
    ) -> (Outcome, Option<String>) {
        let metric = || entry.name.clone();
        let failed = |error| Outcome::MetricFailed { error };
        match attempt {
            Ok(scored) => (Outcome::from(scored), None),
            Err(Failure::Panicked(panic)) => {
                (failed(MetricError::panicked(metric(), panic.message)), panic.traceback)
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                let kind = MetricErrorKind::TimedOut { seconds };
                (failed(MetricError::new(metric(), kind)), None)
            }
        }
    }
}

fn joined(tracebacks: &[String]) -> Option<String> {
    (!tracebacks.is_empty()).then(|| tracebacks.join("\n"))
}

/// Records the outcome of a call that was awaited, which may have cost something.
fn record_one(
    journal: Option<&JournalRow>,
    position: usize,
    outcome: &Outcome,
    traceback: Option<&String>,
) {
    if let Some(journal) = journal {
        let mut scores = StoredScores::default();
        scores.add(position, outcome, traceback.map(String::as_str));
        journal.record_scores(scores, true);
    }
}
