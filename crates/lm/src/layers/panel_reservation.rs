//! Reserves for a whole panel before its first call, so no money is spent on a panel that the budget does not cover.
//!
//! The reservations are task-local: [`Priced`](super::Priced) takes the one for its call.

use std::future::Future;
use std::sync::{Arc, Mutex};

use super::super::LmError;
use super::super::private::lock;
use super::budget::{LmBudget, Reservation};

tokio::task_local! {
    static CURRENT: Arc<Mutex<Vec<Reservation>>>;
}

/// The highest possible cost of a call, and the budget that pays for it.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Quote {
    pub(super) budget: LmBudget,
    pub(super) model: String,
    pub(super) msats: u64,
}

/// Reserves the given amounts, then runs the calls.
///
/// Unused reservations are returned to the budget.
///
/// # Errors
/// Returns [`LmErrorKind::BudgetExceeded`](crate::LmErrorKind::BudgetExceeded), without making a call, if a budget does
/// not cover the calls.
pub async fn run<T>(mut quotes: Vec<Quote>, calls: impl Future<Output = T>) -> Result<T, LmError> {
    quotes.sort_by_key(|quote| quote.budget.order());
    let mut reservations = Vec::with_capacity(quotes.len());
    for of_budget in quotes.chunk_by(|a, b| a.budget.is_same(&b.budget)) {
        let Some(first) = of_budget.first() else {
            continue;
        };
        let msats: Vec<u64> = of_budget.iter().map(|quote| quote.msats).collect();
        reservations.extend(first.budget.reserve(&first.model, &msats).await?);
    }
    let reservations = Arc::new(Mutex::new(reservations));
    Ok(CURRENT.scope(reservations, calls).await)
}

/// Takes the reservation of a call, if its panel made one.
pub(super) fn take(budget: &LmBudget, msats: u64) -> Option<Reservation> {
    let reservations = CURRENT.try_with(Arc::clone).ok()?;
    let mut reservations = lock(&reservations);
    // A repair costs more than any question, so it does not take another judge's reservation.
    let is_of_call = |it: &Reservation| it.msats() == msats && it.budget().is_same(budget);
    let at = reservations.iter().position(is_of_call)?;
    Some(reservations.swap_remove(at))
}

/// Gives up this panel's reservations for calls that have not started. Returns `true` if there were any.
pub(super) fn release() -> bool {
    let Ok(reservations) = CURRENT.try_with(Arc::clone) else {
        return false;
    };
    let released = std::mem::take(&mut *lock(&reservations));
    !released.is_empty()
}
