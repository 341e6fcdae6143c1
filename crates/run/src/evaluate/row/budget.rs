//! The budget: a call's cost is reserved before it, settled after it, and released if it fails. Also what a row or run
//! spent.
//!
//! `gate.rs` knows the maximum cost of a call; `rollouts.rs` decides which calls are made.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use tokio::sync::Notify;

use crate::evaluate::lock::lock;

/// The state of a scorer's budget, shared by all clones of the scorer. All amounts are in millisatoshis.
///
/// `spent + reserved <= limit` always holds, unless a metric costs more than it declared. In that case, `overrun` is
/// the excess, and a call starts only if the remaining budget covers it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// The limit. If it is `None`, the budget is unlimited and nothing is reserved.
    pub limit: Option<u64>,
    /// The total reported cost of calls, whether they scored or failed.
    pub spent: u64,
    /// The amount reserved for calls in progress.
    pub reserved: u64,
    /// The amount that was reserved but released without being spent.
    pub returned: u64,
    /// The amount by which calls exceeded their reservations.
    pub overrun: u64,
}

impl BudgetReport {
    /// Returns the amount that can still be reserved, or `None` if there is no limit.
    pub fn available(&self) -> Option<u64> {
        let taken = self.spent.saturating_add(self.reserved);
        self.limit.map(|limit| limit.saturating_sub(taken))
    }
}

/// The ledger shared by all clones of a scorer.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    limit: Option<u64>,
    account: Mutex<BudgetReport>,
    /// The spent amount that is recorded in the store.
    kept: AtomicU64,
    /// Notified, one waiter at a time, when a reservation is released.
    freed: Notify,
}

enum Attempt<'a> {
    Granted(Reservation<'a>),
    /// The amount may become available as calls in progress settle.
    Wait,
    Denied,
}

impl Ledger {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let account = BudgetReport {
            limit,
            ..BudgetReport::default()
        };
        let kept = AtomicU64::new(0);
        Self {
            limit,
            account: Mutex::new(account),
            kept,
            freed: Notify::new(),
        }
    }

    pub(crate) fn report(&self) -> BudgetReport {
        *lock(&self.account)
    }

    /// Adds what earlier runs spent. `total` is the amount in the store; it includes this ledger's own calls, which are
    /// already counted.
    pub(crate) fn add_kept(&self, total: u64) {
        let known = self.kept.fetch_max(total, Ordering::Relaxed);
        let mut account = lock(&self.account);
        account.spent = account.spent.saturating_add(total.saturating_sub(known));
    }

    /// Counts a settled call that is in the store.
    pub(crate) fn count_kept(&self, cost: u64) {
        self.kept.fetch_add(cost, Ordering::Relaxed);
    }

    /// Reserves `msats`, all or nothing. `None`, an amount that overflows, is never covered. Waits while calls in
    /// progress might release enough, so a row is skipped because of what was spent, not because of what runs
    /// concurrently.
    ///
    /// # Errors
    /// Returns the limit if too little is left.
    pub(crate) async fn reserve(&self, msats: Option<u64>) -> Result<Reservation<'_>, u64> {
        let Some(limit) = self.limit else {
            return Ok(self.empty());
        };
        let msats = msats.ok_or(limit)?;
        if msats == 0 {
            return Ok(self.empty());
        }
        let attempt = match self.try_reserve(limit, msats) {
            Attempt::Wait => self.wait(limit, msats).await,
            attempt => attempt,
        };
        match attempt {
            Attempt::Granted(reservation) => Ok(reservation),
            Attempt::Wait | Attempt::Denied => Err(limit),
        }
    }

    /// Retries whenever a call settles.
    async fn wait(&self, limit: u64, msats: u64) -> Attempt<'_> {
        loop {
            // Registers before trying, so no notification is missed in between.
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.try_reserve(limit, msats) {
                Attempt::Wait => freed.await,
                attempt => {
                    // One settled call may have released enough for several waiters.
                    self.freed.notify_one();
                    return attempt;
                }
            }
        }
    }

    fn try_reserve(&self, limit: u64, msats: u64) -> Attempt<'_> {
        let mut account = lock(&self.account);
        let fits = |taken: u64| taken.checked_add(msats).is_some_and(|total| total <= limit);
        if fits(account.spent.saturating_add(account.reserved)) {
            account.reserved += msats;
            return Attempt::Granted(Reservation {
                ledger: self,
                msats,
            });
        }
        if account.reserved > 0 && fits(account.spent) {
            Attempt::Wait
        } else {
            Attempt::Denied
        }
    }

    /// Returns the reservation for a call without a cost, or without a limit.
    fn empty(&self) -> Reservation<'_> {
        Reservation {
            ledger: self,
            msats: 0,
        }
    }
}

/// A reserved amount. What is not settled is released on drop.
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    ledger: &'a Ledger,
    msats: u64,
}

impl<'a> Reservation<'a> {
    /// Splits off the reservation of one call.
    pub(crate) fn split(&mut self, msats: u64) -> Self {
        let msats = msats.min(self.msats);
        self.msats -= msats;
        Reservation {
            ledger: self.ledger,
            msats,
        }
    }

    /// Returns the amount.
    pub(crate) fn msats(&self) -> u64 {
        self.msats
    }

    /// Returns `true` if there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.ledger.limit.is_some()
    }

    /// Records the cost of the call and releases the rest.
    pub(crate) fn settle(mut self, cost: u64) -> Spending {
        self.close(cost)
    }

    fn close(&mut self, cost: u64) -> Spending {
        let reserved = std::mem::take(&mut self.msats);
        let of_call = Spending::of_call(reserved, cost, self.is_limited());
        if of_call != Spending::default() {
            let mut account = lock(&self.ledger.account);
            account.reserved = account.reserved.saturating_sub(reserved);
            account.spent = account.spent.saturating_add(cost);
            account.returned = account.returned.saturating_add(of_call.returned_msats);
            account.overrun = account.overrun.saturating_add(of_call.overrun_msats);
            drop(account);
            self.ledger.freed.notify_one();
        }
        of_call
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.close(0);
    }
}

/// The calls for a single row, or for all rows of a run, and their cost. All amounts are in millisatoshis, and sums
/// saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spending {
    /// The number of calls to truth metrics.
    pub truth_calls: u64,
    /// The number of calls skipped because the proxies rejected the rollout.
    pub truth_calls_gated: u64,
    /// The declared maximum cost of the skipped calls.
    pub saved_msats: u64,
    /// The total reported cost of calls in both tiers, whether they scored or failed. A call that panicked reports no
    /// cost.
    pub spent_msats: u64,
    /// The amount reserved for calls; 0 if there is no budget.
    pub reserved_msats: u64,
    /// The amount that was reserved but released without being spent.
    pub returned_msats: u64,
    /// The amount by which calls exceeded their reservations; 0 if there is no budget.
    pub overrun_msats: u64,
}

impl Spending {
    /// Returns the spending of one settled call.
    pub(crate) fn of_call(reserved: u64, cost: u64, limited: bool) -> Self {
        Self {
            spent_msats: cost,
            reserved_msats: reserved,
            returned_msats: reserved.saturating_sub(cost),
            overrun_msats: if limited {
                cost.saturating_sub(reserved)
            } else {
                0
            },
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.truth_calls, other.truth_calls),
            (&mut self.truth_calls_gated, other.truth_calls_gated),
            (&mut self.saved_msats, other.saved_msats),
            (&mut self.spent_msats, other.spent_msats),
            (&mut self.reserved_msats, other.reserved_msats),
            (&mut self.returned_msats, other.returned_msats),
            (&mut self.overrun_msats, other.overrun_msats),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }
}
