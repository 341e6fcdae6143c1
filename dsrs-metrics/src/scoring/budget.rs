//! Money: reserved before a call, settled after it, given back whatever becomes of the call.
//!
//! What a call may cost is in `call.rs`; which calls are made is decided in `flow.rs`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;

/// What became of a scorer's money so far, over all its clones. All amounts are in millisatoshis.
///
/// `spent + reserved <= limit` always holds, unless a metric cost more than it declared: then
/// `overrun` says by how much, and no further call is started that is not covered by what is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetReport {
    /// The limit; `None` if there is none, and then nothing is reserved.
    pub limit: Option<u64>,
    /// What calls say they cost, scored or failed.
    pub spent: u64,
    /// What is set aside for calls that are under way.
    pub reserved: u64,
    /// What was set aside and not spent, and so given back.
    pub returned: u64,
    /// By how much calls cost more than was set aside for them.
    pub overrun: u64,
}

impl BudgetReport {
    /// What may still be reserved; `None` without a limit.
    #[must_use]
    pub fn available(&self) -> Option<u64> {
        let taken = self.spent.saturating_add(self.reserved);
        self.limit.map(|limit| limit.saturating_sub(taken))
    }
}

/// The account that all clones of a scorer share.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    limit: Option<u64>,
    account: Mutex<BudgetReport>,
    /// Told one by one when money may have come free.
    freed: Notify,
}

enum Answer<'a> {
    Granted(Reservation<'a>),
    /// Enough would be left if calls under way gave all of theirs back.
    Later,
    Never,
}

impl Ledger {
    pub(super) fn new(limit: Option<u64>) -> Self {
        let account = BudgetReport { limit, ..BudgetReport::default() };
        Self { limit, account: Mutex::new(account), freed: Notify::new() }
    }

    pub(super) fn report(&self) -> BudgetReport {
        *self.account()
    }

    /// No method of the account can panic half-way, so a poisoned one is still right.
    fn account(&self) -> MutexGuard<'_, BudgetReport> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets `msats` aside, all or nothing; `None` (an amount beyond all numbers) is never covered.
    /// Waits while calls under way might still give back what is missing, so that a row is skipped
    /// for what was spent and not for what happens to run beside it.
    ///
    /// # Errors
    /// The limit, if what has been spent leaves too little.
    pub(super) async fn reserve(&self, msats: Option<u64>) -> Result<Reservation<'_>, u64> {
        let Some(limit) = self.limit else {
            return Ok(self.nothing());
        };
        let msats = msats.ok_or(limit)?;
        if msats == 0 {
            return Ok(self.nothing());
        }
        let answer = match self.ask(limit, msats) {
            Answer::Later => self.wait(limit, msats).await,
            answer => answer,
        };
        match answer {
            Answer::Granted(reservation) => Ok(reservation),
            Answer::Later | Answer::Never => Err(limit),
        }
    }

    /// Asks again whenever a call settles.
    async fn wait(&self, limit: u64, msats: u64) -> Answer<'_> {
        loop {
            // Listening before asking, so that nothing settles unheard in between.
            let mut freed = std::pin::pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.ask(limit, msats) {
                Answer::Later => freed.await,
                answer => {
                    // One settled call may have made room for several, or for none that wait.
                    self.freed.notify_one();
                    return answer;
                }
            }
        }
    }

    fn ask(&self, limit: u64, msats: u64) -> Answer<'_> {
        let mut account = self.account();
        let fits = |taken: u64| taken.checked_add(msats).is_some_and(|total| total <= limit);
        if fits(account.spent.saturating_add(account.reserved)) {
            account.reserved += msats;
            return Answer::Granted(Reservation { ledger: self, msats });
        }
        if account.reserved > 0 && fits(account.spent) { Answer::Later } else { Answer::Never }
    }

    /// What a call without a price, or without a limit, stands on.
    fn nothing(&self) -> Reservation<'_> {
        Reservation { ledger: self, msats: 0 }
    }
}

/// Money set aside; what is not settled is given back when it is dropped.
#[derive(Debug)]
pub(super) struct Reservation<'a> {
    ledger: &'a Ledger,
    msats: u64,
}

impl<'a> Reservation<'a> {
    /// A part of it, for one call.
    pub(super) fn split(&mut self, msats: u64) -> Self {
        let msats = msats.min(self.msats);
        self.msats -= msats;
        Reservation { ledger: self.ledger, msats }
    }

    /// How much it is.
    pub(super) fn msats(&self) -> u64 {
        self.msats
    }

    /// Whether there is a limit at all.
    pub(super) fn is_limited(&self) -> bool {
        self.ledger.limit.is_some()
    }

    /// Pays what the call cost, and gives back the rest.
    pub(super) fn settle(mut self, cost: u64) {
        self.close(cost);
    }

    fn close(&mut self, cost: u64) {
        let reserved = std::mem::take(&mut self.msats);
        if reserved == 0 && cost == 0 {
            return;
        }
        {
            let mut account = self.ledger.account();
            account.reserved = account.reserved.saturating_sub(reserved);
            account.spent = account.spent.saturating_add(cost);
            account.returned = account.returned.saturating_add(reserved.saturating_sub(cost));
            if self.is_limited() {
                account.overrun = account.overrun.saturating_add(cost.saturating_sub(reserved));
            }
        }
        self.ledger.freed.notify_one();
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.close(0);
    }
}
