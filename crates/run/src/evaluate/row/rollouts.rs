//! Evaluates the rollouts of a row: runs the program or takes given predictions, then scores each of them.
//!
//! Without a gate, rollouts are repeats, which are evaluated one after another; usually there is one. Under a gate, they
//! are evaluated together: first the metrics of the first tier on each, then those of the second tier on the rollouts
//! that pass, if the budget covers all of them.
//!
//! The file is long because a rollout goes through its program, its metrics and its budget in order.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::gate::Spending;
use super::kept::{KeptRow, KeptScores, RunStore};
use super::plan::{Failure, Plan, ProgramResult};
use super::{RolloutOutcomes, RowOutcomes, RowResult, reduced};
use crate::contract::dedup::Memo;
use crate::contract::{
    IsProgram, MetricCall, Outcome, Program, ProgramOutput, ProgramRun, ProgramRunError,
    RepeatNumber, Settings,
};
use crate::evaluate::error::lock;
use crate::evaluate::input::Input;

/// The zero-based number of a row's current rollout.
///
/// [`Scorer::run`](crate::Scorer::run) sets this number, and the program reads it with
/// `Settings::get::<RolloutNumber>()`.
///
/// If your program has a cache or a seed, make the cache key or seed depend on this number. Otherwise, all rollouts are
/// the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutNumber(pub usize);

/// A rollout's prediction, with the record of the run if a program was run. If there is no prediction, each metric's
/// outcome and the backtrace of a panic.
type RolloutRun<P> = Result<(P, Option<Box<ProgramRun>>), (Outcome, Option<String>)>;

/// A rollout before it is scored.
pub(super) struct Rollout<'a, G, P> {
    pub(super) call: MetricCall<'a, G, P>,
    pub(super) memo: Option<Memo>,
    pub(super) kept: Option<(&'a KeptRow<'a, G, P>, KeptScores)>,
    /// The stored outcomes, by metric position.
    pub(super) known: HashMap<usize, Outcome>,
}

impl<G, P> Rollout<'_, G, P> {
    /// Returns the metrics of a tier whose outcome is not stored.
    fn new_calls(&self, tier: &Range<usize>) -> impl Iterator<Item = usize> {
        tier.clone()
            .filter(|metric| !self.known.contains_key(metric))
    }
}

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    /// Evaluates a row.
    pub(crate) async fn finish<Kind>(
        &self,
        input: Input<G, P>,
        program: &impl Program<G, P, Kind>,
        store: Option<&RunStore<G, P>>,
    ) -> RowResult<G, P> {
        let (mut row, given) = RowResult::begin(input);
        let is_given = row.pred.is_some() || given.is_some();
        let kept = store.map(|store| store.row(&row.gold, self.inputs.as_deref(), is_given));
        self.evaluate(&mut row, given, program, kept.as_ref()).await;
        // The row is not judged yet. A row whose program failed already has all its outcomes.
        let unsampled = Outcome::NotSampled { probability: 0.0 };
        row.outcomes.resize(self.metrics.len(), unsampled);
        row
    }

    /// Evaluates all rollouts of a row, and reduces the outcomes of each metric to one.
    async fn evaluate<Kind>(
        &self,
        row: &mut RowResult<G, P>,
        given: Option<Vec<P>>,
        program: &impl Program<G, P, Kind>,
        kept: Option<&KeptRow<'_, G, P>>,
    ) {
        let (is_gated, repeats) = (self.gate.is_some(), self.options.repeats);
        let number = given.as_ref().map_or(repeats.unwrap_or(1), |given| {
            u32::try_from(given.len()).unwrap_or(u32::MAX)
        });
        let together = if is_gated { number.max(1) } else { 1 };
        // If a row has one prediction, it is the same in all repeats, and so is its run.
        let has_pred = row.pred.is_some();
        let mut given = given.map(|given| given.into_iter().map(|pred| Ok((pred, None))));
        row.gated = is_gated.then(Box::default);
        for first in (0..number).step_by(together as usize) {
            let runs = match row.pred.take_if(|_| has_pred) {
                Some(pred) => Some(vec![Ok((pred, row.run.take()))]),
                None => given
                    .as_mut()
                    .map(|given| given.take(together as usize).collect()),
            };
            let numbers = first..first + together;
            // Boxed, because a future that is moved takes up memory twice.
            let evaluated =
                Box::pin(self.evaluate_together(&row.gold, runs, program, numbers, kept));
            let (runs, scored) = match repeats {
                Some(_) if !is_gated => {
                    let settings = Settings::new().with(RepeatNumber(first));
                    settings.scope(evaluated).await
                }
                _ => evaluated.await,
            };
            if let Some(gated) = &mut row.gated {
                (**gated).clone_from(&scored);
            }
            for (run, (outcomes, traceback)) in runs.into_iter().zip(scored.0) {
                let (pred, mut run) = run.map_or((None, None), |(pred, run)| (Some(pred), run));
                if has_pred {
                    row.run = run.take();
                }
                row.traceback = row.traceback.take().or(traceback);
                row.push_repeat(pred, run, outcomes);
            }
        }
        let is_single = number == 1 && (is_gated || repeats.is_none());
        match row.repeats.pop_if(|_| is_single) {
            Some(only) => {
                row.run = row.run.take().or(only.run);
                row.outcomes = only.outcomes;
            }
            None => {
                let failure_score = self.options.failure_score;
                row.outcomes = reduced(&row.repeats, self.metrics.len(), failure_score);
            }
        }
    }

    /// Makes the predictions of rollouts, unless they are given, and scores them.
    async fn evaluate_together<Kind>(
        &self,
        gold: &G,
        given: Option<Vec<RolloutRun<P>>>,
        program: &impl Program<G, P, Kind>,
        numbers: Range<u32>,
        kept: Option<&KeptRow<'_, G, P>>,
    ) -> (Vec<RolloutRun<P>>, RowOutcomes) {
        let (first, deadline) = (numbers.start, self.deadline());
        let runs = match given {
            Some(given) => given,
            None => {
                let run = |number| self.run_rollout(gold, program, number, deadline, kept);
                join_all(numbers.map(run)).await
            }
        };
        let scored = self.score_together(gold, &runs, deadline, first, kept);
        let scored = scored.await;
        (runs, scored)
    }

    /// Runs a program on a row and scores its rollouts.
    pub(crate) async fn run_row<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
    ) -> RowOutcomes {
        let numbers = 0..self.options.repeats.unwrap_or(1);
        let (_, scored) = self
            .evaluate_together(gold, None, program, numbers, None)
            .await;
        scored
    }

    /// Scores the given predictions of a row.
    pub(crate) async fn score_row(&self, gold: &G, preds: &[P]) -> RowOutcomes {
        let runs: Vec<RolloutRun<&P>> = preds.iter().map(|pred| Ok((pred, None))).collect();
        let scored = self.score_together(gold, &runs, self.deadline(), 0, None);
        scored.await
    }

    /// Runs a program. Under a gate, the run limits how many rollouts do so at once.
    async fn run_rollout<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        number: u32,
        deadline: Option<Instant>,
        kept: Option<&KeptRow<'_, G, P>>,
    ) -> RolloutRun<P> {
        let run = in_scope(kept, self.predict(gold, program, number, deadline, kept));
        let output = match self.gate {
            None => run.await,
            Some(_) => {
                // The semaphore is never closed, so there is always a permit.
                let _permit = self.permits.acquire().await;
                let settings = Settings::new().with(RolloutNumber(number as usize));
                settings.with(RepeatNumber(number)).scope(run).await
            }
        };
        output.map(|(pred, run)| (pred, Some(Box::new(run))))
    }

    async fn predict<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        number: u32,
        deadline: Option<Instant>,
        kept: Option<&KeptRow<'_, G, P>>,
    ) -> ProgramResult<P> {
        if let Some(output) = kept.and_then(|kept| kept.output(number)) {
            return Ok(output);
        }
        // Called in an async block, because it may panic before its first await.
        let start = |_| async {
            let started = Instant::now();
            let output = program.output(gold, self.inputs.as_deref()).await?;
            let (prediction, run) = output.into_parts();
            Ok((prediction, run.measured(started.elapsed())))
        };
        let failed = |error: String| Outcome::ProgramFailed {
            error: error.into(),
        };
        let predicted = match self.options.attempt(start, Result::is_ok, deadline).await {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(ProgramRunError {
                message,
                budget_msats,
                ..
            })) => {
                let outcome = budget_msats.map_or_else(|| failed(message), skipped);
                Err((outcome, None))
            }
            Err(Failure::Panicked(panic)) => {
                let message = format!("the program panicked: {}", panic.message);
                Err((failed(message), panic.traceback))
            }
            Err(Failure::TimedOut) => {
                let seconds = self.options.timeout.unwrap_or_default().as_secs_f64();
                let message = format!(
                    "the program returned no prediction within {seconds} s; raise `timeout`"
                );
                Err((failed(message), None))
            }
        };
        if let Some(kept) = kept {
            kept.keep_output(number, &predicted);
        }
        predicted
    }

    /// Scores rollouts of a row. If a rollout's program failed, its outcome is that failure.
    async fn score_together<B: Borrow<P> + Sync>(
        &self,
        gold: &G,
        runs: &[RolloutRun<B>],
        deadline: Option<Instant>,
        first: u32,
        kept: Option<&KeptRow<'_, G, P>>,
    ) -> RowOutcomes {
        let mut rollouts = Vec::new();
        for (number, run) in (first..).zip(runs) {
            if let Ok((pred, run)) = run {
                let call = self.call(gold, pred.borrow(), run.as_deref());
                rollouts.push(self.rollout(call, number, kept));
            }
        }
        let spending = Mutex::default();
        let scored = self.score_tiers(&rollouts, deadline, &spending).await;
        let mut scored = scored.into_iter();
        let outcomes = |run: &RolloutRun<B>| match run {
            Ok(_) => scored.next().unwrap_or_default(),
            Err((failed, traceback)) => {
                (vec![failed.clone(); self.metrics.len()], traceback.clone())
            }
        };
        let outcomes = runs.iter().map(outcomes).collect();
        (outcomes, *lock(&spending))
    }

    fn rollout<'a>(
        &self,
        call: MetricCall<'a, G, P>,
        number: u32,
        kept: Option<&'a KeptRow<'a, G, P>>,
    ) -> Rollout<'a, G, P> {
        let sharing = self.sharing.as_ref();
        let memo = sharing.map(|sharing| sharing.memo(call.address()));
        let kept = kept.map(|kept| (kept, kept.scores(&call, number)));
        let known = kept.as_ref().map(|(kept, keys)| kept.known(keys, self));
        Rollout {
            call,
            memo,
            known: known.unwrap_or_default(),
            kept,
        }
    }

    /// Evaluates the first tier on every rollout. Under a gate, the second tier is then evaluated on the rollouts that
    /// pass. If the budget does not cover all of them, the second tier is skipped, so all scores are based on the same
    /// metrics and rollouts.
    async fn score_tiers<'a>(
        &'a self,
        rollouts: &'a [Rollout<'a, G, P>],
        deadline: Option<Instant>,
        spending: &'a Mutex<Spending>,
    ) -> Vec<RolloutOutcomes> {
        let gate = self.gate.as_deref();
        let first = 0..gate.map_or(self.cheap, |gate| gate.proxies);
        let all = rollouts.iter().collect();
        let mut scored = match self.score_tier(&first, all, deadline, spending).await {
            Ok(scored) => scored,
            Err(budget) => {
                let skipped = (vec![skipped(budget); self.metrics.len()], None);
                return vec![skipped; rollouts.len()];
            }
        };
        let Some(gate) = gate else { return scored };
        let truths = gate.proxies..self.metrics.len();
        let rejected = scored
            .iter()
            .map(|(outcomes, _)| (gate.rejected_by)(outcomes));
        let rejected: Vec<Option<String>> = rejected.collect();
        let passing = rollouts.iter().zip(&rejected);
        let passing = passing.filter(|(_, by)| by.is_none());
        let passing: Vec<_> = passing.map(|(rollout, _)| rollout).collect();
        let truth_calls = (passing.len() as u64).saturating_mul(truths.len() as u64);
        let second = self.score_tier(&truths, passing, deadline, spending).await;
        if second.is_ok() {
            lock(spending).truth_calls = truth_calls;
        }
        let mut second = second.map(Vec::into_iter);
        for ((outcomes, traceback), by) in scored.iter_mut().zip(rejected) {
            match (by, &mut second) {
                (Some(by), _) => {
                    outcomes.resize(self.metrics.len(), Outcome::Gated { by });
                }
                (None, Ok(second)) => {
                    let (of_truths, of_rollout) = second.next().unwrap_or_default();
                    outcomes.extend(of_truths);
                    *traceback = traceback.take().or(of_rollout);
                }
                (None, Err(budget)) => outcomes.resize(self.metrics.len(), skipped(*budget)),
            }
        }
        scored
    }

    /// Evaluates the metrics of one tier on several rollouts concurrently. Under a gate, first reserves the maximum cost
    /// of all calls whose outcome is not stored.
    ///
    /// # Errors
    /// Returns the budget if it does not cover the calls, or if the store cannot record them.
    async fn score_tier<'a>(
        &'a self,
        metrics: &Range<usize>,
        rollouts: Vec<&'a Rollout<'a, G, P>>,
        deadline: Option<Instant>,
        spending: &'a Mutex<Spending>,
    ) -> Result<Vec<RolloutOutcomes>, u64> {
        let mut charges = Vec::new().into_iter();
        if let Some(gate) = &self.gate {
            let new = rollouts
                .iter()
                .flat_map(|rollout| rollout.new_calls(metrics));
            charges = gate.reserve(new.collect(), spending).await?.into_iter();
        }
        let mut scored = Vec::with_capacity(rollouts.len());
        for rollout in rollouts {
            let number = rollout.new_calls(metrics).count();
            let mut charges: Vec<_> = charges.by_ref().take(number).collect();
            let kept = rollout.kept.as_ref().map(|(kept, _)| *kept);
            // If this fails, no call has been made yet, because each call starts only when it is awaited.
            kept.map_or(Ok(()), |kept| kept.record(&mut charges))?;
            if let Some(gate) = &self.gate {
                let known = rollout.known.iter();
                for (metric, outcome) in known.filter(|(metric, _)| metrics.contains(metric)) {
                    gate.restore(*metric, outcome.cost_msats(), spending);
                }
            }
            let metrics = metrics.clone();
            let tier = self.score_metrics(rollout, deadline, metrics, charges);
            scored.push(in_scope(kept, tier));
        }
        Ok(join_all(scored).await)
    }

    /// Evaluates a row with a metric that judges a sample of the rows.
    pub(crate) async fn judge(
        &self,
        row: &mut RowResult<G, P>,
        metric: usize,
        store: Option<&RunStore<G, P>>,
    ) {
        let Some(pred) = &row.pred else { return };
        let kept = store.map(|store| store.row(&row.gold, None, true));
        let call = self.call(&row.gold, pred, row.run.as_deref());
        let rollout = self.rollout(call, 0, kept.as_ref());
        let judged = self.score_metric(&rollout, metric, self.deadline(), None);
        let traceback;
        (row.outcomes[metric], traceback) = in_scope(kept.as_ref(), judged).await;
        row.traceback = row.traceback.take().or(traceback);
    }
}

/// Returns the outcome of a call that the budget does not cover.
fn skipped(budget: u64) -> Outcome {
    let cost_msats = 0;
    Outcome::Skipped { budget, cost_msats }
}

/// Awaits a part of a rollout, and keeps its replies if the run has a store.
async fn in_scope<G, P, T>(kept: Option<&KeptRow<'_, G, P>>, part: impl Future<Output = T>) -> T {
    match kept {
        Some(kept) => kept.scope(part).await,
        None => part.await,
    }
}

/// Stands in for the program when rows already have predictions; never called.
pub(crate) struct Predicted;

impl<G> IsProgram<G, Predicted> for Predicted {}

impl<G: Sync, P> Program<G, P, Predicted> for Predicted {
    async fn output(
        &self,
        _: &G,
        _: Option<&[String]>,
    ) -> Result<ProgramOutput<P>, ProgramRunError> {
        Err("the row has no prediction".to_owned().into())
    }
}
