//! The gate between two tiers of metrics. Metrics of the second tier cost something, so they run only where the first
//! tier passes and the budget allows.
//!
//! `rollouts.rs` evaluates the row, and `budget.rs` reserves the cost. Models have a separate budget, in
//! `lm/layers/budget.rs`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::budget::{BudgetReport, Ledger, Reservation, Spending};
use crate::contract::Outcome;
use crate::evaluate::lock::lock;
use crate::lm::{LmError, Store};

/// Returns the names of the metrics that reject the outcomes of the first tier; `None` if the outcomes pass.
pub(crate) type RejectedBy = Box<dyn Fn(&[Outcome]) -> Option<String> + Send + Sync>;

/// The gate between two tiers of metrics, with their budget. All clones of an evaluation share it.
pub(crate) struct Gate {
    /// The number of metrics in the first tier, which come first in the run.
    pub(crate) proxies: usize,
    pub(crate) rejected_by: RejectedBy,
    ledger: Ledger,
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
        let max_costs = costs.into_iter().map(AtomicU64::new).collect();
        Self {
            proxies,
            rejected_by,
            ledger: Ledger::new(limit),
            max_costs,
        }
    }

    pub(crate) fn budget(&self) -> BudgetReport {
        self.ledger.report()
    }

    /// Adds the cost of stored calls, because the budget also covers a run that was killed.
    pub(crate) fn add_kept(&self, total: u64) {
        self.ledger.add_kept(total);
    }

    /// Reserves the maximum cost of these calls, given by metric position: all or nothing.
    ///
    /// # Errors
    /// Returns the budget if it does not cover them.
    pub(crate) async fn reserve<'a>(
        &'a self,
        calls: Vec<usize>,
        spending: &'a Mutex<Spending>,
    ) -> Result<Vec<Charge<'a>>, u64> {
        let costs: Vec<_> = calls
            .into_iter()
            .map(|metric| (metric, self.max_cost(metric)))
            .collect();
        let total = costs
            .iter()
            .try_fold(0, |sum: u64, (_, cost)| sum.checked_add(*cost));
        let mut reservation = self.ledger.reserve(total).await?;
        let charge = |(metric, cost)| {
            let reservation = reservation.split(cost);
            Charge {
                gate: self,
                metric,
                reservation,
                spending,
                open: None,
            }
        };
        Ok(costs.into_iter().map(charge).collect())
    }

    fn max_cost(&self, metric: usize) -> u64 {
        self.max_costs[metric].load(Ordering::Relaxed)
    }

    /// Adds a call whose outcome is stored. It is not paid for again.
    pub(crate) fn restore(&self, metric: usize, cost: u64, spending: &Mutex<Spending>) {
        let limited = self.ledger.report().limit.is_some();
        let reserved = if limited { self.max_cost(metric) } else { 0 };
        self.max_costs[metric].fetch_max(cost, Ordering::Relaxed);
        lock(spending).add(&Spending::of_call(reserved, cost, limited));
    }
}

/// The reservation for one call. Dropping it releases the reserved amount.
pub(crate) struct Charge<'a> {
    gate: &'a Gate,
    metric: usize,
    reservation: Reservation<'a>,
    spending: &'a Mutex<Spending>,
    open: Option<OpenCall>,
}

/// A call that the store lists as reserved. It counts as spent until its cost is known.
struct OpenCall {
    store: Store,
    number: i64,
}

impl Charge<'_> {
    /// Records the reservation in the store, under the budget's name, before the call.
    ///
    /// # Errors
    /// Returns an [`LmError`] if the store cannot be written.
    pub(crate) fn record(&mut self, (store, budget): (&Store, &str)) -> Result<(), LmError> {
        if self.reservation.is_limited() {
            let number = store.reserve_msats(budget, self.reservation.msats())?;
            self.open = Some(OpenCall {
                store: store.clone(),
                number,
            });
        }
        Ok(())
    }

    /// Records the cost of the call.
    pub(crate) fn settle(self, cost: u64) {
        let Self {
            gate,
            metric,
            reservation,
            spending,
            open,
        } = self;
        gate.max_costs[metric].fetch_max(cost, Ordering::Relaxed);
        let of_call = reservation.settle(cost);
        if let Some(OpenCall { store, number }) = open {
            // If this fails, the call counts with its reserved amount.
            let _ = store.settle_msats(number, cost);
            gate.ledger.count_kept(cost);
        }
        lock(spending).add(&of_call);
    }
}
