//! A budget for a run's calls, which reserves an amount before each call and settles it afterwards.
//!
//! A panel reserves for all of its calls before the first, so no money is spent on a panel that the budget does not cover.
//! These reservations are task-local: [`Priced`](super::Priced) takes the one for its call.
//!
//! The file is long because the methods of a budget are documented with examples.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::super::store::Store;
use super::super::{LmError, LmErrorKind, lock};

/// A budget, in msat, for all calls in a run.
///
/// Clones share the same budget.
///
/// Each call first reserves its highest possible cost, which is later replaced with the actual cost. Concurrent calls
/// therefore cannot exceed the limit. The only exception is a provider that charges for more tokens than a call allows;
/// see [`overrun`](Self::overrun).
///
/// Most calls cost far less than their maximum. If a call does not fit only because of other reservations, it waits
/// until they are released.
///
/// After a timeout, a lost connection or an invalid reply, the provider may have charged for the call. In this case,
/// the budget is charged the whole reservation.
///
/// ```
/// use dsrs_metrics::lm::{
///     LanguageModel, LmBudget, LmErrorKind, LmRequest, Price, Priced, Prices, Sampling, ScriptedLm,
///     Usage,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// // One dollar per million tokens is one msat per token.
/// let price = Price { input: 1.0, output: 1.0, cached_input: None };
/// let budget = LmBudget::msats(500);
/// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(80, 200));
/// let lm = Priced::new(lm, Prices::empty().with("scripted:lm", price)).budget(budget.clone());
/// let sampling = Sampling { max_tokens: Some(300), ..Sampling::default() };
/// let request = LmRequest::new("example").user("?").with_sampling(sampling);
/// lm.complete(&request).await?;
/// assert_eq!((budget.spent_msats(), budget.remaining_msats()), (280, 220));
/// // The next call may cost more than 220 msat, so it is not made.
/// let error = lm.complete(&request).await.unwrap_err();
/// assert!(matches!(error.kind(), LmErrorKind::BudgetExceeded { remaining_msats: 220, .. }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct LmBudget {
    limit: u64,
    state: Arc<Mutex<BudgetState>>,
    /// Notified when a call is settled.
    settled: Arc<Notify>,
    kept: Option<Arc<Kept>>,
}

/// Where a budget's spending is recorded.
#[derive(Debug)]
struct Kept {
    store: Store,
    name: String,
}

#[derive(Debug, Default)]
struct BudgetState {
    spent: u64,
    /// The part of `spent` that an interrupted run spent.
    before: u64,
    reserved: u64,
    largest_rejected: Option<u64>,
    overrun: Option<BudgetOverrun>,
}

impl LmBudget {
    /// Creates a budget of `limit` msat.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmBudget, parse_msats};
    ///
    /// assert_eq!(LmBudget::msats(500).remaining_msats(), 500);
    /// assert_eq!(LmBudget::msats(parse_msats("0.5 sat")?).remaining_msats(), 500);
    /// # Ok::<(), dsrs_metrics::lm::LmError>(())
    /// ```
    pub fn msats(limit: u64) -> Self {
        Self {
            limit,
            state: Arc::default(),
            settled: Arc::default(),
            kept: None,
        }
    }

    /// Records the total spend in `store`, under `name`.
    ///
    /// If the process is killed, the next process resumes with the remaining budget. Calls that were in progress are
    /// charged at their maximum cost.
    ///
    /// Call [`end`](Self::end) to reset the budget.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LmBudget, Store};
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-kept-budget-{}", std::process::id()));
    /// let budget = LmBudget::msats(500).kept_in(&Store::open(&dir)?, "nightly")?;
    /// assert_eq!(budget.remaining_msats(), 500);
    /// budget.end()?;
    /// # drop(budget);
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`] if the store cannot be read.
    pub fn kept_in(mut self, store: &Store, name: impl Into<String>) -> Result<Self, LmError> {
        let kept = Kept {
            store: store.clone(),
            name: name.into(),
        };
        let before = store.spent_msats(&kept.name)?;
        let mut state = lock(&self.state);
        (state.spent, state.before) = (state.spent.saturating_add(before), before);
        drop(state);
        self.kept = Some(Arc::new(kept));
        Ok(self)
    }

    /// Removes this budget from the store.
    ///
    /// Call this method when the run has ended.
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`] if the store cannot be written.
    pub fn end(&self) -> Result<(), LmError> {
        match &self.kept {
            Some(kept) => kept.store.forget_spending(&kept.name),
            None => Ok(()),
        }
    }

    /// Returns the amount that an earlier, interrupted run spent, in msat.
    #[doc(hidden)]
    pub fn spent_before_msats(&self) -> u64 {
        lock(&self.state).before
    }

    /// Returns the amount spent so far, in msat.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmBudget, LmError, LmErrorKind, LmRequest, Priced, ScriptedLm, Usage,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
    /// # let prices = dsrs_metrics::lm::Prices::empty().with("scripted:lm", price);
    /// let limited = LmErrorKind::RateLimited { retry_after: None, message: "slow down".into() };
    /// let lm = ScriptedLm::new().when("first", LmError::new("scripted:lm", limited)).otherwise("yes");
    /// let budget = LmBudget::msats(5000);
    /// let lm = Priced::new(lm.usage(Usage::new(80, 200)), prices).budget(budget.clone());
    /// lm.complete(&LmRequest::new("example").user("first")).await.unwrap_err();
    /// assert_eq!(budget.spent_msats(), 0, "an error of the provider costs nothing");
    /// lm.complete(&LmRequest::new("example").user("second")).await?;
    /// assert_eq!(budget.spent_msats(), 280);
    /// # Ok(())
    /// # }
    /// ```
    pub fn spent_msats(&self) -> u64 {
        lock(&self.state).spent
    }

    /// Returns the amount that is neither spent nor reserved, in msat.
    ///
    /// ```
    /// use dsrs_metrics::lm::LmBudget;
    ///
    /// assert_eq!(LmBudget::msats(500).remaining_msats(), 500);
    /// ```
    pub fn remaining_msats(&self) -> u64 {
        let state = lock(&self.state);
        let taken = state.spent.saturating_add(state.reserved);
        self.limit.saturating_sub(taken)
    }

    /// Returns the largest amount that a rejected call could have cost, in msat.
    ///
    /// Returns `None` if no call was rejected.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmBudget, LmRequest, Priced, Sampling, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
    /// # let prices = dsrs_metrics::lm::Prices::empty().with("scripted:lm", price);
    /// let budget = LmBudget::msats(500);
    /// let lm = Priced::new(ScriptedLm::new().otherwise("yes"), prices).budget(budget.clone());
    /// let sampling = Sampling { max_tokens: Some(1000), ..Sampling::default() };
    /// lm.complete(&LmRequest::new("example").user("?").with_sampling(sampling)).await.unwrap_err();
    /// // 1,000 tokens of the reply, and at most 81 of the prompt.
    /// assert_eq!(budget.largest_rejected_msats(), Some(1081));
    /// # }
    /// ```
    pub fn largest_rejected_msats(&self) -> Option<u64> {
        lock(&self.state).largest_rejected
    }

    /// Returns a summary of the replies that exceeded their token limits.
    ///
    /// Returns `None` if no reply exceeded its limit.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmBudget, LmError, LmRequest, Priced, Sampling, ScriptedLm, Usage,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
    /// # let prices = dsrs_metrics::lm::Prices::empty().with("scripted:lm", price);
    /// let budget = LmBudget::msats(500);
    /// assert_eq!(budget.overrun(), None);
    /// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(80, 900));
    /// let lm = Priced::new(lm, prices).budget(budget.clone());
    /// let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    /// lm.complete(&LmRequest::new("example").user("?").with_sampling(sampling)).await?;
    /// assert_eq!(
    ///     budget.overrun().map(|overrun| overrun.to_string()).as_deref(),
    ///     Some("scripted:lm reported 900 tokens for a reply limited to 100")
    /// );
    /// # Ok(())
    /// # }
    /// ```
    pub fn overrun(&self) -> Option<BudgetOverrun> {
        lock(&self.state).overrun.clone()
    }

    /// Returns the amount by which the calls exceeded the budget, in msat.
    ///
    /// The amount is 0 unless a provider charges for more tokens than a call allows; see [`overrun`](Self::overrun).
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmBudget, LmError, LmRequest, Priced, Sampling, ScriptedLm, Usage,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
    /// # let prices = dsrs_metrics::lm::Prices::empty().with("scripted:lm", price);
    /// let budget = LmBudget::msats(500);
    /// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(80, 900));
    /// let lm = Priced::new(lm, prices).budget(budget.clone());
    /// let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
    /// // 181 msat are reserved, and 980 are charged.
    /// lm.complete(&LmRequest::new("example").user("?").with_sampling(sampling)).await?;
    /// assert_eq!(budget.overrun_msats(), 480);
    /// # Ok(())
    /// # }
    /// ```
    pub fn overrun_msats(&self) -> u64 {
        lock(&self.state).spent.saturating_sub(self.limit)
    }

    /// Records a reply with more tokens than its call allows, because it may cost more than was reserved.
    pub(super) fn check_tokens(&self, model: &str, tokens: u64, max_tokens: u32) {
        if tokens <= u64::from(max_tokens) {
            return;
        }
        let mut state = lock(&self.state);
        let overrun = state.overrun.get_or_insert_with(|| BudgetOverrun {
            replies: 0,
            model: model.to_owned(),
            tokens,
            max_tokens,
        });
        overrun.replies += 1;
        if tokens > overrun.tokens {
            overrun.model = model.to_owned();
            (overrun.tokens, overrun.max_tokens) = (tokens, max_tokens);
        }
    }

    /// Reserves the amounts for several calls, in msat: either all of them or none. `model` is the model of the first
    /// call.
    pub(super) async fn reserve(
        &self,
        model: &str,
        calls: &[u64],
    ) -> Result<Vec<Reservation>, LmError> {
        loop {
            let mut settled = pin!(self.settled.notified());
            // From here on, no settlement is missed.
            settled.as_mut().enable();
            if let Some(reservations) = self.try_reserve(model, calls)? {
                return Ok(reservations);
            }
            // A waiting panel holds no reservations, so panels cannot wait for each other.
            if !release_reservations() {
                settled.await;
            }
        }
    }

    /// Reserves the amounts. Returns `None` if the calls may fit once other calls are settled.
    fn try_reserve(&self, model: &str, calls: &[u64]) -> Result<Option<Vec<Reservation>>, LmError> {
        let msats = calls.iter().copied().fold(0, u64::saturating_add);
        let mut state = lock(&self.state);
        let unspent = self.limit.saturating_sub(state.spent);
        if msats > unspent {
            state.largest_rejected = state.largest_rejected.max(Some(msats));
            let kind = LmErrorKind::BudgetExceeded {
                needed_msats: msats,
                remaining_msats: unspent,
                budget_msats: self.limit,
            };
            return Err(LmError::new(model, kind));
        }
        if msats > unspent.saturating_sub(state.reserved) {
            return Ok(None);
        }
        state.reserved += msats;
        let reservation = |msats: &u64| Reservation {
            budget: self.clone(),
            msats: *msats,
            spent: 0,
            call: None,
        };
        Ok(Some(calls.iter().map(reservation).collect()))
    }

    /// Returns `true` if both are clones of one budget.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Returns a sort key, so that all panels reserve from several budgets in the same order.
    pub(super) fn order(&self) -> usize {
        Arc::as_ptr(&self.state).addr()
    }
}

/// Money reserved for one call. Dropping it settles the call; a call that never started costs nothing.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: LmBudget,
    pub(super) msats: u64,
    /// What the call costs, in msat.
    pub(super) spent: u64,
    /// The number of the call in the budget's store.
    call: Option<i64>,
}

impl Reservation {
    /// Starts the call, and records it in the budget's store, if there is one. From now on, the call costs the reserved
    /// amount unless `spent` is set.
    pub(super) fn started(mut self) -> Result<Self, LmError> {
        if let Some(kept) = &self.budget.kept {
            self.call = Some(kept.store.reserve_msats(&kept.name, self.msats)?);
        }
        self.spent = self.msats;
        Ok(self)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let (Some(kept), Some(call)) = (&self.budget.kept, self.call)
            && self.spent != self.msats
        {
            // If this fails, the call counts as costing the reserved amount.
            let _ = kept.store.settle_msats(call, self.spent);
        }
        let mut state = lock(&self.budget.state);
        state.reserved -= self.msats;
        state.spent = state.spent.saturating_add(self.spent);
        drop(state);
        self.budget.settled.notify_waiters();
    }
}

/// A summary of the replies that had more tokens than `max_tokens` allowed.
///
/// Some providers do not enforce the limit, so a reply can cost more than was reserved. See
/// [`LmBudget::overrun`](super::LmBudget::overrun).
///
/// ```
/// use dsrs_metrics::lm::{
///     LanguageModel, LmBudget, LmError, LmRequest, Priced, Prices, Sampling, ScriptedLm, Usage,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
/// let budget = LmBudget::msats(5000);
/// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(80, 900));
/// let lm = Priced::new(lm, Prices::empty().with("scripted:lm", price)).budget(budget.clone());
/// let sampling = Sampling { max_tokens: Some(100), ..Sampling::default() };
/// let request = LmRequest::new("example").user("?").with_sampling(sampling);
/// lm.complete(&request).await?;
/// lm.complete(&request).await?;
/// let overrun = budget.overrun().expect("the replies have more than 100 tokens");
/// assert_eq!((overrun.replies, overrun.tokens, overrun.max_tokens), (2, 900, 100));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BudgetOverrun {
    /// The number of replies that exceeded their token limit.
    pub replies: u64,
    /// The model that returned the longest reply over its limit, as `provider:model`.
    pub model: String,
    /// The number of tokens in the longest reply over its limit.
    pub tokens: u64,
    /// The token limit for the call that returned the longest reply.
    pub max_tokens: u32,
}

/// `openai:m reported 1000000 tokens for a reply limited to 4096 (in 3 replies)`
impl fmt::Display for BudgetOverrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, tokens, limit) = (&self.model, self.tokens, self.max_tokens);
        let for_reply = format_args!("for a reply limited to {limit}");
        write!(f, "{model} reported {tokens} tokens {for_reply}")?;
        match self.replies {
            1 => Ok(()),
            replies => write!(f, " ({replies} replies exceed their limit)"),
        }
    }
}

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
/// If a budget does not cover the calls, makes none of them and returns
/// [`LmErrorKind::BudgetExceeded`](crate::LmErrorKind::BudgetExceeded).
#[doc(hidden)]
pub async fn reserve_for_panel<T>(
    mut quotes: Vec<Quote>,
    calls: impl Future<Output = T>,
) -> Result<T, LmError> {
    quotes.sort_by_key(|quote| quote.budget.order());
    let mut reservations = Vec::with_capacity(quotes.len());
    for of_budget in quotes.chunk_by(|a, b| a.budget.is_same(&b.budget)) {
        let msats: Vec<u64> = of_budget.iter().map(|quote| quote.msats).collect();
        let Quote { budget, model, .. } = &of_budget[0];
        reservations.extend(budget.reserve(model, &msats).await?);
    }
    let reservations = Arc::new(Mutex::new(reservations));
    Ok(CURRENT.scope(reservations, calls).await)
}

/// Takes the reservation for a call, if its panel made one.
pub(super) fn take_reservation(budget: &LmBudget, msats: u64) -> Option<Reservation> {
    let reservations = CURRENT.try_with(Arc::clone).ok()?;
    let mut reservations = lock(&reservations);
    // A repair costs more than any question, so it does not take another judge's reservation.
    let is_of_call = |it: &Reservation| it.msats == msats && it.budget.is_same(budget);
    let at = reservations.iter().position(is_of_call)?;
    Some(reservations.swap_remove(at))
}

/// Gives up this panel's reservations for calls that have not started. Returns `true` if there were any.
pub(super) fn release_reservations() -> bool {
    let Ok(reservations) = CURRENT.try_with(Arc::clone) else {
        return false;
    };
    let released = std::mem::take(&mut *lock(&reservations));
    !released.is_empty()
}
