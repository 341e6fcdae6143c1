//! The gate between two tiers of metrics, and its budget. Metrics of the second tier cost something, so they run only
//! where the first tier passes and the budget allows.
//!
//! A call's cost is reserved before the call, settled after it, and released if the call fails. `rollouts.rs` decides
//! which calls are made. Models have a separate budget, in `lm/layers/budget.rs`.

use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio::sync::Notify;

use crate::contract::Outcome;
use crate::evaluate::error::lock;
use crate::lm::{LmError, Store};

/// The state of a scorer's budget.
///
/// All clones of the scorer share the budget. All amounts are in millisatoshis.
///
/// `spent + reserved <= limit` holds unless a metric costs more than it declared. In that case, `overrun` is the
/// excess. A new call then starts only if the remaining budget covers it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// The maximum amount that calls can cost in total.
    ///
    /// If this is `None`, the budget is unlimited and nothing is reserved.
    pub limit: Option<u64>,
    /// The total reported cost of calls, including calls that failed.
    pub spent: u64,
    /// The amount reserved for calls in progress.
    pub reserved: u64,
    /// The amount that was reserved but released without being spent.
    pub returned: u64,
    /// The amount by which calls exceeded their reservations.
    pub overrun: u64,
}

impl BudgetReport {
    /// Returns the amount that can still be reserved.
    ///
    /// Returns `None` if there is no limit.
    pub fn available(&self) -> Option<u64> {
        let taken = self.spent.saturating_add(self.reserved);
        self.limit.map(|limit| limit.saturating_sub(taken))
    }
}

/// A function that returns the names of the metrics that reject the first tier's outcomes, or `None` if the outcomes
/// pass.
pub(crate) type RejectedBy = Box<dyn Fn(&[Outcome]) -> Option<String> + Send + Sync>;

/// The gate between two tiers of metrics, with their budget. All clones of an evaluation share it.
pub(crate) struct Gate {
    /// The number of metrics in the first tier, which come first in the run.
    pub(crate) proxies: usize,
    pub(crate) rejected_by: RejectedBy,
    limit: Option<u64>,
    account: Mutex<BudgetReport>,
    /// The spent amount that is recorded in the store.
    kept: AtomicU64,
    /// Notified, one waiter at a time, when a reservation is released.
    freed: Notify,
    /// The declared cost of one call of each metric, raised to the highest cost observed once a call exceeds it.
    max_costs: Vec<AtomicU64>,
}

impl Gate {
    /// Creates a gate for metrics with these declared costs, in millisatoshis.
    pub(crate) fn new(
        proxies: usize,
        rejected_by: RejectedBy,
        limit: Option<u64>,
        costs: impl IntoIterator<Item = u64>,
    ) -> Self {
        let account = BudgetReport {
            limit,
            ..BudgetReport::default()
        };
        Self {
            proxies,
            rejected_by,
            limit,
            account: Mutex::new(account),
            kept: AtomicU64::new(0),
            freed: Notify::new(),
            max_costs: costs.into_iter().map(AtomicU64::new).collect(),
        }
    }

    pub(crate) fn budget(&self) -> BudgetReport {
        *lock(&self.account)
    }

    /// Adds the cost of stored calls, because the budget also covers a run that was killed. `total` is the amount in the
    /// store; it includes this gate's own calls, which are already counted.
    pub(crate) fn add_kept(&self, total: u64) {
        let known = self.kept.fetch_max(total, Ordering::Relaxed);
        let mut account = lock(&self.account);
        account.spent = account.spent.saturating_add(total.saturating_sub(known));
    }

    /// Reserves the maximum cost of these calls, which are given by metric position. If the budget does not cover all
    /// of them, nothing is reserved. Waits while calls in progress might release enough, so a row is skipped because of
    /// what was spent, not because of what runs concurrently.
    ///
    /// # Errors
    /// Returns the budget if it does not cover the calls.
    pub(crate) async fn reserve<'a>(
        &'a self,
        calls: Vec<usize>,
        spending: &'a Mutex<Spending>,
    ) -> Result<Vec<Charge<'a>>, u64> {
        let cost = |metric: &usize| self.limit.map_or(0, |_| self.max_cost(*metric));
        let costs: Vec<u64> = calls.iter().map(cost).collect();
        if let Some(limit) = self.limit {
            let mut costs = costs.iter();
            let total = costs.try_fold(0, |sum: u64, cost| sum.checked_add(*cost));
            // An amount that overflows is never covered.
            self.reserve_msats(limit, total.ok_or(limit)?).await?;
        }
        let charge = |(metric, msats)| Charge {
            gate: self,
            metric,
            msats,
            spending,
            open: None,
        };
        Ok(calls.into_iter().zip(costs).map(charge).collect())
    }

    async fn reserve_msats(&self, limit: u64, msats: u64) -> Result<(), u64> {
        loop {
            // Registers before trying, so no notification is missed in between.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            if let Some(reserved) = self.try_reserve(limit, msats) {
                // One settled call may have released enough for several waiters.
                self.freed.notify_one();
                return reserved;
            }
            freed.await;
        }
    }

    /// Tries to reserve an amount. Returns `None` if the amount may become available as calls in progress settle.
    fn try_reserve(&self, limit: u64, msats: u64) -> Option<Result<(), u64>> {
        let mut account = lock(&self.account);
        let fits = |taken: u64| taken.checked_add(msats).is_some_and(|total| total <= limit);
        if msats == 0 || fits(account.spent.saturating_add(account.reserved)) {
            account.reserved += msats;
            return Some(Ok(()));
        }
        let waits = account.reserved > 0 && fits(account.spent);
        (!waits).then_some(Err(limit))
    }

    fn max_cost(&self, metric: usize) -> u64 {
        self.max_costs[metric].load(Ordering::Relaxed)
    }

    /// Adds a call whose outcome is stored. The call is not paid for again.
    pub(crate) fn restore(&self, metric: usize, cost: u64, spending: &Mutex<Spending>) {
        let reserved = self.limit.map_or(0, |_| self.max_cost(metric));
        self.max_costs[metric].fetch_max(cost, Ordering::Relaxed);
        lock(spending).add(&self.spending_of_call(reserved, cost));
    }

    fn spending_of_call(&self, reserved: u64, cost: u64) -> Spending {
        Spending {
            spent_msats: cost,
            reserved_msats: reserved,
            returned_msats: reserved.saturating_sub(cost),
            overrun_msats: self.limit.map_or(0, |_| cost.saturating_sub(reserved)),
            ..Spending::default()
        }
    }
}

/// The reservation for one call. Dropping it releases the reserved amount.
pub(crate) struct Charge<'a> {
    gate: &'a Gate,
    metric: usize,
    msats: u64,
    spending: &'a Mutex<Spending>,
    /// The call's number in a store that lists it as reserved. The reserved amount counts as spent until the call's
    /// cost is known.
    open: Option<(Store, i64)>,
}

impl Charge<'_> {
    /// Returns the limit of the budget, or 0 if there is none.
    pub(crate) fn limit(&self) -> u64 {
        self.gate.limit.unwrap_or_default()
    }

    /// Records the reservation in the store, under the budget's name, before the call.
    ///
    /// # Errors
    /// Returns an [`LmError`] if the store cannot be written.
    pub(crate) fn record(&mut self, (store, budget): (&Store, &str)) -> Result<(), LmError> {
        if self.gate.limit.is_some() {
            let number = store.reserve_msats(budget, self.msats)?;
            self.open = Some((store.clone(), number));
        }
        Ok(())
    }

    /// Records the cost of the call.
    pub(crate) fn settle(mut self, cost: u64) {
        self.gate.max_costs[self.metric].fetch_max(cost, Ordering::Relaxed);
        let of_call = self.close(cost);
        if let Some((store, number)) = self.open.take() {
            // If this fails, the call counts as costing its reserved amount.
            let _ = store.settle_msats(number, cost);
            self.gate.kept.fetch_add(cost, Ordering::Relaxed);
        }
        lock(self.spending).add(&of_call);
    }

    /// Counts the cost and releases the rest.
    fn close(&mut self, cost: u64) -> Spending {
        let reserved = std::mem::take(&mut self.msats);
        let of_call = self.gate.spending_of_call(reserved, cost);
        if of_call != Spending::default() {
            let mut account = lock(&self.gate.account);
            account.reserved = account.reserved.saturating_sub(reserved);
            account.spent = account.spent.saturating_add(cost);
            account.returned = account.returned.saturating_add(of_call.returned_msats);
            account.overrun = account.overrun.saturating_add(of_call.overrun_msats);
            drop(account);
            self.gate.freed.notify_one();
        }
        of_call
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        self.close(0);
    }
}

/// The number and cost of the calls for a row or a run.
///
/// All amounts are in millisatoshis. Sums saturate instead of overflowing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spending {
    /// The number of calls to truth metrics.
    pub truth_calls: u64,
    /// The number of truth calls skipped because the proxies rejected the rollout.
    pub truth_calls_gated: u64,
    /// The declared maximum cost of the skipped calls.
    pub saved_msats: u64,
    /// The total reported cost of calls to proxy and truth metrics.
    ///
    /// This includes calls that failed. A call that panicked reports no cost.
    pub spent_msats: u64,
    /// The amount reserved for calls.
    ///
    /// This is 0 if there is no budget.
    pub reserved_msats: u64,
    /// The amount that was reserved but released without being spent.
    pub returned_msats: u64,
    /// The amount by which calls exceeded their reservations.
    ///
    /// This is 0 if there is no budget.
    pub overrun_msats: u64,
}

impl Spending {
    pub(crate) fn add(&mut self, other: &Self) {
        self.truth_calls = self.truth_calls.saturating_add(other.truth_calls);
        self.truth_calls_gated = self
            .truth_calls_gated
            .saturating_add(other.truth_calls_gated);
        self.saved_msats = self.saved_msats.saturating_add(other.saved_msats);
        self.spent_msats = self.spent_msats.saturating_add(other.spent_msats);
        self.reserved_msats = self.reserved_msats.saturating_add(other.reserved_msats);
        self.returned_msats = self.returned_msats.saturating_add(other.returned_msats);
        self.overrun_msats = self.overrun_msats.saturating_add(other.overrun_msats);
    }
}
