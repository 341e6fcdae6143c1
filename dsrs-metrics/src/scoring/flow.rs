//! The way of one row: proxies of all its rollouts, the gate, the budget, truth metrics.
//!
//! Rows are handed out in `run.rs`; one call is in `call.rs`.

use futures_util::future::{Either, join_all};

use super::Inner;
use super::call::{Called, Entry};
use super::gate::{Decision, TierScore, decide, tier_score};
use super::row::{Rollout, RowScore, combine};
use super::spending::Spending;
use super::standing::Standing;
use crate::core::call::MetricCall;
use crate::core::dedup::memo::Memo;
use crate::core::outcome::Outcome;

/// The outcomes of one tier, rollout by rollout.
type TierOutcomes = Vec<Vec<Outcome>>;

impl<G: Send + Sync, P: Send + Sync> Inner<G, P> {
    pub(super) async fn score(&self, gold: &G, preds: &[P]) -> RowScore {
        let mut spending = Spending::default();
        let calls: Vec<_> = preds.iter().map(|pred| MetricCall::new(gold, pred)).collect();
        let memos: Vec<_> = calls.iter().map(|call| self.memo(call)).collect();
        let calls: Vec<_> =
            calls.iter().zip(&memos).map(|(call, memo)| call.with_memo(memo.as_ref())).collect();
        let rollouts = match self.ask(&self.proxies, &calls, &mut spending).await {
            Ok(proxies) => self.after_proxies(&calls, proxies, &mut spending).await,
            Err(budget) => preds.iter().map(|_| self.skipped(budget)).collect(),
        };
        RowScore {
            standing: combine(&rollouts, self.config.aggregation, self.config.on_missing),
            rollouts,
            wanted: self.config.num_rollouts,
            spending,
        }
    }

    /// Rollouts are different rows, so each has answers of its own.
    fn memo(&self, call: &MetricCall<'_, G, P>) -> Option<Memo> {
        self.sharing.as_ref().map(|sharing| sharing.memo(call))
    }

    /// Gates each rollout, then asks the truth metrics about those that passed: about all of them
    /// or, if the budget does not cover that, about none, so that no score rests on fewer metrics
    /// or rollouts than another.
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
        let truth = self.ask(&self.truth, &passing, spending).await;
        if truth.is_ok() {
            spending.truth_calls = product(passing.len(), self.truth.len());
        }
        let mut truth = truth.map(Vec::into_iter);
        let rollout = |(outcomes, decision)| match decision {
            Decision::Pass { proxy } => match &mut truth {
                Ok(truth) => self.passed(outcomes, proxy, truth.next().unwrap_or_default()),
                Err(budget) => self.unpaid(outcomes, proxy, *budget),
            },
            Decision::Stop { proxy, by, standing } => {
                self.note_gated(&standing, spending);
                self.stopped(outcomes, proxy, &by, standing)
            }
        };
        proxies.into_iter().zip(decisions).map(rollout).collect()
    }

    /// Calls every metric of a tier for every rollout: those that need no waiting at once, the
    /// others side by side. The worst case of all these calls is set aside before the first.
    ///
    /// # Errors
    /// The budget, if it does not cover them.
    async fn ask(
        &self,
        entries: &[Entry<G, P>],
        calls: &[MetricCall<'_, G, P>],
        spending: &mut Spending,
    ) -> Result<TierOutcomes, u64> {
        let prices: Vec<u64> = entries.iter().map(Entry::worst).collect();
        let total = total(&prices, calls.len());
        let mut money = self.ledger.reserve(total).await?;
        let mut waiting = Vec::new();
        let mut tier: TierOutcomes = Vec::with_capacity(calls.len());
        for (rollout, call) in calls.iter().enumerate() {
            let mut outcomes = Vec::with_capacity(entries.len());
            for (place, (entry, price)) in entries.iter().zip(&prices).enumerate() {
                match entry.call(*call, money.split(*price)) {
                    Either::Left(called) => outcomes.push(noted(called, spending)),
                    Either::Right(called) => {
                        // Replaced when the call has finished.
                        outcomes.push(Outcome::Abstained);
                        waiting.push((rollout, place, called));
                    }
                }
            }
            tier.push(outcomes);
        }
        let waiting = waiting
            .into_iter()
            .map(|(rollout, place, called)| async move { (rollout, place, called.await) });
        for (rollout, place, called) in join_all(waiting).await {
            tier[rollout][place] = noted(called, spending);
        }
        Ok(tier)
    }

    fn passed(&self, outcomes: Vec<Outcome>, proxy: Option<f64>, truth: Vec<Outcome>) -> Rollout {
        let standing = match tier_score(&self.truth, &truth, self.config.on_missing) {
            TierScore::Mean(score) => Standing::Scored { score },
            TierScore::Missing(reason) => Standing::Failed { reason },
            // Without truth metrics the proxies are the score; a scorer has one or the other.
            TierScore::NoMetric => Standing::Scored { score: proxy.unwrap_or_default() },
        };
        Rollout { standing, passed: true, proxy, outcomes: joined(outcomes, truth) }
    }

    fn stopped(
        &self,
        outcomes: Vec<Outcome>,
        proxy: Option<f64>,
        by: &str,
        standing: Standing,
    ) -> Rollout {
        let gated = self.truth.iter().map(|_| Outcome::Gated { by: by.to_owned() });
        Rollout { standing, passed: false, proxy, outcomes: joined(outcomes, gated) }
    }

    /// It passed the gate, and the budget did not cover the truth metrics.
    fn unpaid(&self, outcomes: Vec<Outcome>, proxy: Option<f64>, budget: u64) -> Rollout {
        let truth = self.truth.iter().map(|_| Outcome::Skipped { budget, cost_msats: 0 });
        let standing = Standing::Skipped { budget };
        Rollout { standing, passed: true, proxy, outcomes: joined(outcomes, truth) }
    }

    /// The budget did not even cover the proxies.
    fn skipped(&self, budget: u64) -> Rollout {
        let outcomes =
            self.proxies.iter().map(|_| Outcome::Skipped { budget, cost_msats: 0 }).collect();
        Rollout { passed: false, ..self.unpaid(outcomes, None, budget) }
    }

    /// Only what the gate rejected is saved; what a broken proxy prevented is not.
    fn note_gated(&self, standing: &Standing, spending: &mut Spending) {
        if matches!(standing, Standing::Gated { .. }) {
            let declared = self.truth.iter().map(|entry| entry.declared);
            let saved_msats = declared.fold(0, u64::saturating_add);
            let truth_calls_gated = self.truth.len() as u64;
            spending.add(&Spending { truth_calls_gated, saved_msats, ..Spending::default() });
        }
    }
}

fn noted(called: Called, spending: &mut Spending) -> Outcome {
    spending.add(&called.spending);
    called.outcome
}

fn joined(mut proxies: Vec<Outcome>, truth: impl IntoIterator<Item = Outcome>) -> Vec<Outcome> {
    proxies.extend(truth);
    proxies
}

/// The worst case of one call of each, for so many rollouts; `None` if it is beyond all numbers.
fn total(prices: &[u64], rollouts: usize) -> Option<u64> {
    let once = prices.iter().try_fold(0, |sum: u64, price| sum.checked_add(*price))?;
    once.checked_mul(rollouts as u64)
}

fn product(rollouts: usize, metrics: usize) -> u64 {
    (rollouts as u64).saturating_mul(metrics as u64)
}
