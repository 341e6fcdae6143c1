//! Evaluates all rollouts of one row under a gate: first the metrics of the first tier on each, then those of the
//! second tier on the rollouts that pass, if the budget covers all of them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use futures_util::future::join_all;
use tokio::time::Instant;

use super::attempt::ProgramFailure;
use super::budget::Spending;
use super::gate::Gate;
use super::kept::{KeptRepeat, KeptRow, KeptScores};
use super::plan::Plan;
use super::row_result::{Gated, RowResult, ScoredRollouts};
use crate::contract::dedup::Memo;
use crate::contract::{MetricCall, Outcome, Program, ProgramRun, RepeatNumber, Settings};
use crate::evaluate::lock::lock;

/// The zero-based number of the current rollout. [`Scorer::run`](crate::Scorer::run) sets this number, and the program
/// reads it with `Settings::get::<RolloutNumber>()`. If your program has a cache or a seed, make the cache key or seed
/// depend on this number; otherwise, all rollouts are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutNumber(pub usize);

/// One rollout of a row before it is scored.
struct Rollout<'a, G, P> {
    call: MetricCall<'a, G, P>,
    kept: Option<(&'a KeptRepeat<'a, G, P>, KeptScores)>,
    /// The stored outcomes.
    known: HashMap<usize, Outcome>,
}

/// A rollout's prediction, with the record of the run if a program was run; or the program's failure.
type RolloutRun<P> = Result<(P, Option<Box<ProgramRun>>), ProgramFailure>;

/// The outcomes of one tier by rollout, and the backtraces of panics.
type TierOutcomes = Vec<(Vec<Outcome>, Option<String>)>;

impl<G: Send + Sync, P: Send + Sync> Plan<'_, G, P> {
    /// Evaluates the rollouts of a row: given predictions or a program's.
    pub(crate) async fn evaluate_rollouts<Kind>(
        &self,
        gate: &Gate,
        row: &mut RowResult<G, P>,
        given: Option<Vec<P>>,
        program: &impl Program<G, P, Kind>,
        kept: Option<&KeptRow<'_, G, P>>,
    ) {
        let given_number = |given: &Vec<P>| u32::try_from(given.len()).unwrap_or(u32::MAX);
        let number = given.as_ref().map_or(self.rollouts(), given_number);
        let mut repeats = Vec::new();
        if let Some(kept) = kept {
            repeats.extend((0..number).map(|number| kept.repeat(number)));
        }
        let deadline = self.deadline();
        let runs: Vec<RolloutRun<P>> = match given {
            Some(given) => given.into_iter().map(|pred| Ok((pred, None))).collect(),
            None => {
                self.run_rollouts(&row.gold, program, deadline, &repeats)
                    .await
            }
        };
        let calls = self.calls(&row.gold, &runs);
        let scored = self.score_rollouts(gate, calls, deadline, &repeats).await;
        self.finish_rollouts(row, runs, scored);
    }

    /// Stores predictions and outcomes in the row. A single rollout becomes the row's own.
    fn finish_rollouts(
        &self,
        row: &mut RowResult<G, P>,
        runs: Vec<RolloutRun<P>>,
        scored: ScoredRollouts,
    ) {
        let ScoredRollouts {
            outcomes,
            interrupted,
            spending,
            mut traceback,
        } = scored;
        row.gated = Some(Box::new(Gated {
            spending,
            interrupted,
        }));
        for (result, outcomes) in runs.into_iter().zip(outcomes) {
            let (pred, run) = match result {
                Ok((pred, run)) => (Some(pred), run),
                Err(failure) => {
                    traceback = traceback.or(failure.traceback);
                    (None, None)
                }
            };
            row.push_repeat(pred, run, outcomes);
        }
        row.traceback = traceback;
        if row.repeats.len() == 1
            && let Some(only) = row.repeats.pop()
        {
            (row.run, row.outcomes) = (only.run, only.outcomes);
            return;
        }
        row.outcomes = self.reduced(&row.repeats);
    }

    /// Returns how often a program is run on each row.
    fn rollouts(&self) -> u32 {
        self.options.repeats.unwrap_or(1)
    }

    /// Runs a program on one row, once per rollout, as many at once as the run allows.
    pub(crate) async fn run_rollouts<Kind>(
        &self,
        gold: &G,
        program: &impl Program<G, P, Kind>,
        deadline: Option<Instant>,
        kept: &[KeptRepeat<'_, G, P>],
    ) -> Vec<RolloutRun<P>> {
        let run = |number: u32| async move {
            // The semaphore is never closed, so there is always a permit.
            let _permit = self.permits.acquire().await;
            let kept = kept.get(number as usize);
            let settings = Settings::new().with(RolloutNumber(number as usize));
            let settings = settings.with(RepeatNumber(number));
            let run = settings.scope(self.predict(gold, program, deadline, kept));
            in_scope(kept, run)
                .await
                .map(|(pred, run)| (pred, Some(Box::new(run))))
        };
        join_all((0..self.rollouts()).map(run)).await
    }

    pub(crate) fn calls<'r>(
        &self,
        gold: &'r G,
        runs: &'r [RolloutRun<P>],
    ) -> Vec<Result<MetricCall<'r, G, P>, &'r ProgramFailure>> {
        let call = |run: &'r RolloutRun<P>| match run {
            Ok((pred, run)) => Ok(self.call(gold, pred, run.as_deref())),
            Err(failure) => Err(failure),
        };
        runs.iter().map(call).collect()
    }

    /// Evaluates the metrics on all rollouts of a row. If a rollout's program failed, its outcome is that failure.
    pub(crate) async fn score_rollouts<'a>(
        &'a self,
        gate: &'a Gate,
        calls: Vec<Result<MetricCall<'a, G, P>, &'a ProgramFailure>>,
        deadline: Option<Instant>,
        kept: &'a [KeptRepeat<'_, G, P>],
    ) -> ScoredRollouts {
        let memo = |call: &Result<MetricCall<'a, G, P>, _>| {
            call.as_ref()
                .ok()
                .and_then(|call| Some(self.sharing.as_ref()?.memo(call.address())))
        };
        let memos: Vec<Option<Memo>> = calls.iter().map(memo).collect();
        let rollout = |number: usize| {
            let call = calls[number].ok()?.with_memo(memos[number].as_ref());
            let kept = kept.get(number).map(|kept| (kept, kept.scores(&call)));
            let known = kept
                .as_ref()
                .map(|(_, scores)| scores.known(self))
                .unwrap_or_default();
            Some(Rollout { call, kept, known })
        };
        let rollouts: Vec<_> = (0..calls.len()).filter_map(rollout).collect();
        let spending = Mutex::new(Spending::default());
        let scored = self
            .score_both_tiers(gate, &rollouts, deadline, &spending)
            .await;
        let mut traceback = None;
        let mut scored = scored.into_iter().map(|(outcomes, of_rollout)| {
            traceback = traceback.take().or(of_rollout);
            outcomes
        });
        let outcomes = |call: &Result<_, &ProgramFailure>| match call {
            Ok(_) => scored.next().unwrap_or_default(),
            Err(failure) => self.program_failed(failure),
        };
        let outcomes = calls.iter().map(outcomes).collect();
        let is_interrupted = |call: &Result<_, &ProgramFailure>| {
            call.as_ref()
                .err()
                .is_some_and(|failure| failure.is_interrupted)
        };
        let interrupted = calls.iter().map(is_interrupted).collect();
        let spending = spending
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        ScoredRollouts {
            outcomes,
            interrupted,
            spending,
            traceback,
        }
    }

    /// Evaluates the first tier on every rollout, and the second on those that pass. If the budget does not cover all
    /// of those, the second tier is skipped, so all scores are based on the same metrics and rollouts.
    async fn score_both_tiers<'a>(
        &'a self,
        gate: &'a Gate,
        rollouts: &'a [Rollout<'a, G, P>],
        deadline: Option<Instant>,
        spending: &'a Mutex<Spending>,
    ) -> TierOutcomes {
        let (proxies, truths) = (0..gate.proxies, gate.proxies..self.metrics.len());
        let skipped = |number: usize, budget| {
            vec![
                Outcome::Skipped {
                    budget,
                    cost_msats: 0
                };
                number
            ]
        };
        let all = rollouts.iter().collect();
        let mut scored = match self
            .score_tier(gate, &proxies, all, deadline, spending)
            .await
        {
            Ok(scored) => scored,
            Err(budget) => {
                let skipped = |_: &_| (skipped(self.metrics.len(), budget), None);
                return rollouts.iter().map(skipped).collect();
            }
        };
        let rejected = scored
            .iter()
            .map(|(outcomes, _)| (gate.rejected_by)(outcomes));
        let rejected: Vec<Option<String>> = rejected.collect();
        let passing = rollouts
            .iter()
            .zip(&rejected)
            .filter(|(_, by)| by.is_none());
        let passing: Vec<_> = passing.map(|(rollout, _)| rollout).collect();
        let truth_calls = (passing.len() as u64).saturating_mul(truths.len() as u64);
        let second = self
            .score_tier(gate, &truths, passing, deadline, spending)
            .await;
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
                (None, Err(budget)) => outcomes.extend(skipped(truths.len(), *budget)),
            }
        }
        scored
    }

    /// Evaluates the metrics of one tier on several rollouts concurrently. First reserves the maximum cost of all calls
    /// whose outcome is not stored.
    ///
    /// # Errors
    /// Returns the budget if it does not cover the calls, or an error if the store cannot record them.
    async fn score_tier<'a>(
        &'a self,
        gate: &'a Gate,
        metrics: &Range<usize>,
        rollouts: Vec<&'a Rollout<'a, G, P>>,
        deadline: Option<Instant>,
        spending: &'a Mutex<Spending>,
    ) -> Result<TierOutcomes, u64> {
        let new = rollouts
            .iter()
            .flat_map(|rollout| rollout.new_calls(metrics))
            .collect();
        let mut charges = gate.reserve(new, spending).await?.into_iter();
        let mut scored = Vec::with_capacity(rollouts.len());
        for rollout in rollouts {
            let number = rollout.new_calls(metrics).count();
            let kept = rollout.kept.as_ref();
            let mut charges: Vec<_> = charges.by_ref().take(number).collect();
            if let Some((kept, _)) = kept
                && kept.record(&mut charges).is_err()
            {
                // No call has been made yet: each starts when it is awaited.
                return Err(gate.budget().limit.unwrap_or_default());
            }
            let known = rollout
                .known
                .iter()
                .filter(|(metric, _)| metrics.contains(metric));
            let known = known.map(|(metric, outcome)| {
                gate.restore(*metric, outcome.cost_msats(), spending);
                (*metric, outcome.clone())
            });
            let (known, metrics) = (known.collect(), metrics.clone());
            let (repeat, scores) = (kept.map(|(kept, _)| *kept), kept.map(|(_, scores)| scores));
            let charges = charges.into_iter();
            scored.push(in_scope(
                repeat,
                self.score_metrics(rollout.call, deadline, scores, known, metrics, charges),
            ));
        }
        Ok(join_all(scored).await)
    }
}

impl<G, P> Rollout<'_, G, P> {
    /// Returns the metrics of a tier whose outcome is not stored.
    fn new_calls(&self, tier: &Range<usize>) -> impl Iterator<Item = usize> {
        tier.clone()
            .filter(|metric| !self.known.contains_key(metric))
    }
}

/// Awaits a part of a rollout, and keeps its replies if the run has a store.
async fn in_scope<G, P, T>(
    kept: Option<&KeptRepeat<'_, G, P>>,
    part: impl Future<Output = T>,
) -> T {
    match kept {
        Some(kept) => kept.scope(part).await,
        None => part.await,
    }
}
