//! Evaluates one row: its prediction, then its scores, with timeout, second attempt and panic isolation.
//!
//! Rows come from `source.rs`; `row_scores.rs` evaluates the metrics; outcomes are collected in `collector.rs`.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::attempt::Failure;
use super::error::EvaluateError;
use super::gate::Gate;
use super::journal::{
    JournalRow, JournaledRow, Predicted, ProgramFailure, RowToJournal, RunJournal,
};
use super::metric_entry::MetricEntry;
use super::repeats::{self, Repeat};
use super::row_result::RowResult;
use super::source_row::Input;
use crate::core::dedup::memo::Sharing;
use crate::core::metric::call::MetricCall;
use crate::core::metric::repeat::RepeatNumber;
use crate::core::metric::settings::Settings;
use crate::core::program::Program;
use crate::core::program_run::ProgramRun;
use crate::core::score::outcome::Outcome;

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
    pub(super) sharing: Option<Sharing>,
    /// The fields that the program receives of the rows that do not declare their own.
    pub(super) inputs: Option<Arc<[String]>>,
    /// Whether rows with predictions can be evaluated without awaiting anything.
    pub(super) is_immediate: bool,
    /// The gate, if the metrics have two tiers.
    pub(super) gate: Option<Arc<Gate>>,
    /// The number of rollouts in which a program may run at once.
    pub(super) permits: Semaphore,
}

impl<'a, G, P> Plan<'a, G, P> {
    pub(super) fn new(
        metrics: Vec<MetricEntry<'a, G, P>>,
        options: RowOptions,
        sharing: Option<Sharing>,
        inputs: Option<Arc<[String]>>,
        gate: Option<Arc<Gate>>,
        concurrency: usize,
    ) -> Self {
        let RowOptions { timeout, repeats, .. } = options;
        let waits = timeout.is_some() || repeats.is_some() || gate.is_some();
        let is_immediate = !waits && !metrics.iter().any(|entry| entry.is_async);
        let permits = Semaphore::new(concurrency.min(Semaphore::MAX_PERMITS));
        Self { metrics, options, sharing, inputs, is_immediate, gate, permits }
    }

    /// Returns the time at which a row that starts now has timed out.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.options.timeout.map(|timeout| Instant::now() + timeout)
    }
}

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    pub(super) fn call<'a>(
        &self,
        gold: &'a G,
        pred: &'a P,
        run: Option<&'a ProgramRun>,
    ) -> MetricCall<'a, G, P> {
        let mut call = MetricCall::new(gold, pred);
        call.run = run;
        if self.options.is_explained { call } else { call.without_explanation() }
    }

    pub(super) async fn finish<Kind>(
        &self,
        index: u64,
        mut input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&RunJournal<G, P>>,
    ) -> Result<RowResult<G, P>, EvaluateError> {
        let of_gate = input.take_rollouts();
        let mut row = RowResult::begin(index, input);
        let journaled = journal.map(|journal| journal.row(index, &row, of_gate.as_deref()));
        let journaled = journaled.as_ref();
        let is_restored = match self.options.repeats {
            _ if let Some(gate) = &self.gate => {
                let rollouts = self.evaluate_rollouts(gate, &mut row, of_gate, program, journaled);
                Box::pin(rollouts).await?
            }
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
        let mut traceback = None;
        let mut is_restored = true;
        for number in 0..repeats {
            let first = row.pred.take_if(|_| is_predicted);
            let settings = Settings::new().with(RepeatNumber(number));
            let evaluated = self.evaluate(row, program, (journal, number));
            is_restored &= settings.scope(evaluated).await?;
            traceback = traceback.or(row.traceback.take());
            let pred = std::mem::replace(&mut row.pred, first);
            let (run, outcomes) = (row.run.take(), std::mem::take(&mut row.outcomes));
            row.push_repeat(pred, run, outcomes);
        }
        row.traceback = traceback;
        row.outcomes = self.reduced(&row.repeats);
        Ok(is_restored)
    }

    /// Returns the outcome of each metric over the repeats of a row.
    pub(super) fn reduced(&self, repeats: &[Repeat<P>]) -> Vec<Outcome> {
        let of_metric = |metric: usize| {
            let outcomes: Vec<_> = repeats.iter().map(|repeat| &repeat.outcomes[metric]).collect();
            repeats::reduce(&outcomes, self.options.failure_score)
        };
        (0..self.metrics.len()).map(of_metric).collect()
    }

    /// Returns the outcome of each metric on a row whose program failed.
    pub(super) fn program_failed(&self, error: &str) -> Vec<Outcome> {
        vec![Outcome::ProgramFailed { error: error.into() }; self.metrics.len()]
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
        Ok(journal.row.is_restored() && !row.outcomes.iter().any(Outcome::is_skipped))
    }

    async fn evaluate_once<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        program: &impl Program<G, P, Kind>,
        journal: Option<&JournaledRow<G, P>>,
    ) {
        let deadline = self.deadline();
        if row.pred.is_none() {
            match self.predict(&row.gold, program, deadline, journal).await {
                Ok((pred, run)) => (row.pred, row.run) = (Some(pred), Some(Box::new(run))),
                Err(ProgramFailure { error, traceback, .. }) => {
                    (row.outcomes, row.traceback) = (self.program_failed(&error), traceback);
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
            let memo = self.sharing.as_ref().map(|sharing| sharing.memo(call.address()));
            let call = call.with_memo(memo.as_ref());
            let journal = journal.map(|journal| &*journal.row);
            let known = journal.map(JournalRow::take_outcomes).unwrap_or_default();
            let (metrics, charges) = (0..self.metrics.len(), std::iter::empty());
            let scored = self.score_metrics(call, deadline, journal, known, metrics, charges);
            (row.outcomes, row.traceback) = scored.await;
        }
    }

    pub(super) async fn predict<Kind>(
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
        let interrupted =
            |error, traceback| Err(ProgramFailure { error, traceback, is_interrupted: true });
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(output) => output.map_err(|error| ProgramFailure { error, ..Default::default() }),
            Err(Failure::Panicked(panic)) => {
                let error = format!("the program panicked: {}", panic.message);
                interrupted(error, panic.traceback)
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                interrupted(format!("the program returned no prediction within {seconds} s"), None)
            }
        };
        if let Some(journal) = journal {
            journal.record(&predicted);
        }
        predicted
    }
}
