//! Scores one row: the proxies of all its rollouts, the gate, the budget, the truth metrics.
//!
//! Rows are distributed to workers in `run.rs`; one call is in `call.rs`.

use std::sync::Arc;

use futures_util::future::{Either, join_all};

use super::Inner;
use super::call::{CallResult, Entry};
use super::gate::{Decision, TierScore, decide, tier_score};
use super::row::{Rollout, RowScore, combine};
use super::row_status::RowStatus;
use super::spending::Spending;
use crate::core::call::MetricCall;
use crate::core::dedup::memo::Memo;
use crate::core::outcome::Outcome;
use crate::core::program_run::ProgramRun;

/// The outcomes of one tier, rollout by rollout.
type TierOutcomes = Vec<Vec<Outcome>>;

impl<G: Send + Sync, P: Send + Sync> Inner<G, P> {
    pub(super) async fn score(&self, gold: &G, preds: &[P]) -> RowScore {
        let mut spending = Spending::default();
        let calls: Vec<_> = preds.iter().map(|pred| MetricCall::new(gold, pred)).collect();
        let rollouts = self.rollouts(&calls, &mut spending).await;
        self.row(rollouts, spending)
    }

    /// Scores the runs of a program on one example. A run that failed is a rollout without a score.
    pub(super) async fn score_runs(
        &self,
        gold: &G,
        runs: &[Result<(P, ProgramRun), String>],
    ) -> RowScore {
        let mut spending = Spending::default();
        let finished = runs.iter().filter_map(|run| run.as_ref().ok());
        let calls: Vec<_> =
            finished.map(|(pred, run)| MetricCall::new(gold, pred).with_run(run)).collect();
        let mut scored = self.rollouts(&calls, &mut spending).await.into_iter();
        let rollout = |run: &Result<_, String>| match run {
            Ok(_) => scored.next(),
            Err(error) => Some(self.failed_run(error)),
        };
        let rollouts = runs.iter().filter_map(rollout).collect();
        self.row(rollouts, spending)
    }

    fn row(&self, rollouts: Vec<Rollout>, spending: Spending) -> RowScore {
        let (aggregation, on_missing) = (self.config.aggregation, self.config.on_missing);
        let status = combine(&rollouts, aggregation, on_missing);
        RowScore { status, rollouts, expected: self.config.num_rollouts, spending }
    }

    async fn rollouts(
        &self,
        calls: &[MetricCall<'_, G, P>],
        spending: &mut Spending,
    ) -> Vec<Rollout> {
        let memos: Vec<_> = calls.iter().map(|call| self.memo(call)).collect();
        let calls: Vec<_> =
            calls.iter().zip(&memos).map(|(call, memo)| call.with_memo(memo.as_ref())).collect();
        match self.call_tier(&self.proxies, &calls, spending).await {
            Ok(proxies) => self.after_proxies(&calls, proxies, spending).await,
            Err(budget) => calls.iter().map(|_| self.skipped(budget)).collect(),
        }
    }

    /// Returns the rollout of a run in which the program failed.
    fn failed_run(&self, error: &str) -> Rollout {
        let error: Arc<str> = error.into();
        let reason = format!("the program failed: {error}");
        let failed = || Outcome::ProgramFailed { error: Arc::clone(&error) };
        let outcomes = self.proxies.iter().chain(&self.truth).map(|_| failed()).collect();
        Rollout { status: RowStatus::Failed { reason }, passed: false, proxy: None, outcomes }
    }

    /// Returns the memo of one rollout; each rollout is a different row and has its own.
    fn memo(&self, call: &MetricCall<'_, G, P>) -> Option<Memo> {
        self.sharing.as_ref().map(|sharing| sharing.memo(call))
    }

    /// Gates each rollout, then evaluates the truth metrics on those that passed: on all of them or, if
    /// the budget does not cover that, on none, so that all scores are based on the same metrics and
    /// rollouts.
    async fn after_proxies(
        &self,
        calls: &[MetricCall<'_, G, P>],
        proxies: TierOutcomes,
        spending: &mut Spending,
    ) -> Vec<Rollout> {
        let config = &self.config;
        let decision = |outcomes: &Vec<Outcome>| {
            decide(&self.proxies, outcomes, config.on_missing, config.threshold)
        };
        let decisions: Vec<_> = proxies.iter().map(decision).collect();
        let passed = |decision: &Decision| matches!(decision, Decision::Pass { .. });
        let passing = calls.iter().zip(&decisions).filter(|(_, decision)| passed(decision));
        let passing: Vec<_> = passing.map(|(call, _)| *call).collect();
        let truth = self.call_tier(&self.truth, &passing, spending).await;
        if truth.is_ok() {
            spending.truth_calls = product(passing.len(), self.truth.len());
        }
        let mut truth = truth.map(Vec::into_iter);
        let rollout = |(outcomes, decision)| match decision {
            Decision::Pass { proxy } => match &mut truth {
                Ok(truth) => self.passed(outcomes, proxy, truth.next().unwrap_or_default()),
                Err(budget) => self.over_budget(outcomes, proxy, *budget),
            },
            Decision::Stop { proxy, by, status } => {
                self.record_gated(&status, spending);
                self.stopped(outcomes, proxy, &by, status)
            }
        };
        proxies.into_iter().zip(decisions).map(rollout).collect()
    }

    /// Calls every metric of a tier for every rollout: ready answers first, pending ones concurrently. The
    /// maximum cost of all these calls is reserved before the first.
    ///
    /// # Errors
    /// The budget, if it does not cover them.
    async fn call_tier(
        &self,
        entries: &[Entry<G, P>],
        calls: &[MetricCall<'_, G, P>],
        spending: &mut Spending,
    ) -> Result<TierOutcomes, u64> {
        let costs: Vec<u64> = entries.iter().map(Entry::max_cost).collect();
        let total = total_cost(&costs, calls.len());
        let mut reservation = self.ledger.reserve(total).await?;
        let mut pending = Vec::new();
        let mut tier: TierOutcomes = Vec::with_capacity(calls.len());
        for (rollout, call) in calls.iter().enumerate() {
            let mut outcomes = Vec::with_capacity(entries.len());
            for (position, (entry, cost)) in entries.iter().zip(&costs).enumerate() {
                match entry.call(*call, reservation.split(*cost)) {
                    Either::Left(called) => outcomes.push(recorded(called, spending)),
                    Either::Right(called) => {
                        // Replaced when the call has finished.
                        outcomes.push(Outcome::Abstained);
                        pending.push((rollout, position, called));
                    }
                }
            }
            tier.push(outcomes);
        }
        let pending = pending
            .into_iter()
            .map(|(rollout, position, called)| async move { (rollout, position, called.await) });
        for (rollout, position, called) in join_all(pending).await {
            tier[rollout][position] = recorded(called, spending);
        }
        Ok(tier)
    }

    fn passed(&self, outcomes: Vec<Outcome>, proxy: Option<f64>, truth: Vec<Outcome>) -> Rollout {
        let status = match tier_score(&self.truth, &truth, self.config.on_missing) {
            TierScore::Skipped { budget } => RowStatus::Skipped { budget },
            TierScore::Mean(score) => RowStatus::Scored { score },
            TierScore::Missing(reason) => RowStatus::Failed { reason },
            // Without truth metrics the proxy mean is the score; a scorer has at least one metric.
            TierScore::NoMetric => RowStatus::Scored { score: proxy.unwrap_or_default() },
        };
        Rollout { status, passed: true, proxy, outcomes: joined(outcomes, truth) }
    }

    fn stopped(
        &self,
        outcomes: Vec<Outcome>,
        proxy: Option<f64>,
        by: &str,
        status: RowStatus,
    ) -> Rollout {
        let gated = self.truth.iter().map(|_| Outcome::Gated { by: by.to_owned() });
        Rollout { status, passed: false, proxy, outcomes: joined(outcomes, gated) }
    }

    /// Returns a rollout that passed the gate, and whose truth metrics the budget does not cover.
    fn over_budget(&self, outcomes: Vec<Outcome>, proxy: Option<f64>, budget: u64) -> Rollout {
        let truth = self.truth.iter().map(|_| Outcome::Skipped { budget, cost_msats: 0 });
        let status = RowStatus::Skipped { budget };
        Rollout { status, passed: true, proxy, outcomes: joined(outcomes, truth) }
    }

    /// Returns a rollout whose proxies the budget does not cover.
    fn skipped(&self, budget: u64) -> Rollout {
        let outcomes =
            self.proxies.iter().map(|_| Outcome::Skipped { budget, cost_msats: 0 }).collect();
        Rollout { passed: false, ..self.over_budget(outcomes, None, budget) }
    }

    /// Counts the saved truth calls of a gated rollout; a failed proxy saves nothing.
    fn record_gated(&self, status: &RowStatus, spending: &mut Spending) {
        if matches!(status, RowStatus::Gated { .. }) {
            let declared = self.truth.iter().map(|entry| entry.declared_cost);
            let saved_msats = declared.fold(0, u64::saturating_add);
            let truth_calls_gated = self.truth.len() as u64;
            spending.add(&Spending { truth_calls_gated, saved_msats, ..Spending::default() });
        }
    }
}

fn recorded(called: CallResult, spending: &mut Spending) -> Outcome {
    spending.add(&called.spending);
    called.outcome
}

fn joined(mut proxies: Vec<Outcome>, truth: impl IntoIterator<Item = Outcome>) -> Vec<Outcome> {
    proxies.extend(truth);
    proxies
}

/// Returns the maximum cost of one call of each metric per rollout; `None` if it overflows.
fn total_cost(costs: &[u64], rollouts: usize) -> Option<u64> {
    let once = costs.iter().try_fold(0, |sum: u64, cost| sum.checked_add(*cost))?;
    once.checked_mul(rollouts as u64)
}

fn product(rollouts: usize, metrics: usize) -> u64 {
    (rollouts as u64).saturating_mul(metrics as u64)
}
