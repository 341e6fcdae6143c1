//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! Rows come from `source.rs`; outcomes are collected in `collector.rs`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::Instant;

use super::attempt::{Attempt, Failure, is_conclusive, unless_late};
use super::journal::{JournalError, JournalRow, JournaledRow, Predicted, RunJournal, StoredScores};
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
use crate::core::panic;
use crate::core::repeat::RepeatNumber;
use crate::core::requirements::Requirement;
use crate::core::score::Scored;
use crate::core::settings::Settings;
use crate::core::spec::{ScoreKind, ScoreRange};
use crate::evaluate::program::Program;
use crate::lm::recording;

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
    /// Returns whether the metric can have this outcome. A journal from elsewhere may have any.
    fn is_possible(&self, outcome: &Outcome) -> bool {
        outcome.scored().is_none_or(|Scored { score, .. }| {
            self.range.is_none_or(|range| range.contains(score.value))
                && ScoreRange::UNIT.contains(score.confidence)
        })
    }

    pub(super) fn metric(&self) -> &dyn Metric<G, P> {
        &*self.metric
    }

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

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(super) async fn finish<Kind>(
        &self,
        index: u64,
        input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&RunJournal<G, P>>,
    ) -> Result<RowResult<G, P>, JournalError> {
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
        let fingerprint = journal.map(|journal| (journal, journal.fingerprint(&row)));
        let journaled = |repeat: u32| {
            let row = fingerprint.as_ref().map(|(journal, hash)| journal.row(index, repeat, hash));
            row.transpose()
        };
        let is_restored = match self.options.repeats {
            None => self.evaluate(&mut row, program, journaled(0)?).await,
            Some(repeats) => {
                self.evaluate_repeatedly(&mut row, program, repeats, journaled).await?
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
        journaled: impl Fn(u32) -> Result<Option<JournaledRow<G, P>>, JournalError>,
    ) -> Result<bool, JournalError> {
        let is_predicted = row.pred.is_none();
        let mut pred = row.pred.take();
        let mut traceback = None;
        let mut is_restored = true;
        for number in 0..repeats {
            row.pred = pred.take_if(|_| !is_predicted);
            let settings = Settings::new().with(RepeatNumber(number));
            let evaluated = self.evaluate(row, program, journaled(number)?);
            is_restored &= settings.scope(evaluated).await;
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

    /// Evaluates a row, and returns whether the journal had everything of it.
    async fn evaluate<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<JournaledRow<G, P>>,
    ) -> bool {
        match journal {
            None => {
                self.evaluate_once(row, program, None).await;
                false
            }
            Some(journal) => {
                let recorder = Arc::clone(&journal.row);
                let evaluated = self.evaluate_once(row, program, Some(&journal));
                recording::scope(recorder, evaluated).await;
                !journal.row.has_added()
            }
        }
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
            let call = MetricCall { run: row.run.as_deref(), ..MetricCall::new(&*row.gold, pred) };
            let call = if self.options.is_explained { call } else { call.without_explanation() };
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
            let (prediction, run) = program.output(gold).await?.into_parts();
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
