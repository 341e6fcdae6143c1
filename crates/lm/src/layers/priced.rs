//! The layer that computes the cost of a call and charges it to a budget.

use std::borrow::Cow;

use async_trait::async_trait;

use super::super::model::{layer_over_inner, probe_request};
use super::super::price::{Price, Prices};
use super::super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, StopReason, Usage};
use super::budget::{LmBudget, Quote, Reservation, take_reservation};
use super::metered::add_cost;

/// A model that computes the cost of each reply.
///
/// The model can have a [budget](LmBudget).
///
/// The cost of a call is computed as follows:
///
/// - The cost of a reply is computed from its tokens and the model's prices.
/// - An error from the provider or a failed connection costs nothing.
/// - After a timeout, a lost connection, an invalid reply or a cancellation, the provider may have charged for the
///   call. The cost is then computed from the reported tokens. If the provider reported no tokens, it is the highest
///   cost that `max_tokens` allows.
///
/// The cost is charged to the budget. It also appears in the [`Ledger`](crate::Ledger) and in the row's outcome.
///
/// Under a budget, a call to a model without a price fails with [`LmErrorKind::Unpriced`], unless [unpriced calls are
/// allowed](Self::allow_unpriced).
///
/// Under a budget, a request without `max_tokens` is limited to 4,096 tokens, because its cost would otherwise be
/// unlimited.
///
/// This limit is not part of a stored reply's key. A reply truncated by this limit is stored, but is returned only to
/// calls with a budget.
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, LmRequest, Price, Priced, Prices, ScriptedLm, Usage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::lm::LmError> {
/// let price = Price { input: 0.25, output: 2.0, cached_input: None };
/// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(1000, 100));
/// let lm = Priced::new(lm, Prices::empty().with("scripted:lm", price));
/// let reply = lm.complete(&LmRequest::new("example").user("?")).await?;
/// assert_eq!(reply.cost_msats, Some(450));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Priced<L> {
    inner: L,
    prices: Prices,
    price: Option<Price>,
    budget: Option<LmBudget>,
    allow_unpriced: bool,
}

/// The token limit under a budget for requests that do not set one.
pub(crate) const DEFAULT_MAX_TOKENS: u32 = 4096;

impl<L: LanguageModel> Priced<L> {
    /// Wraps `inner` and computes the cost of its calls from `prices`.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmRequest, Priced, Prices, ScriptedLm, Usage,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let lm = ScriptedLm::new().otherwise("yes").usage(Usage::new(1000, 100));
    /// let lm = Priced::new(lm, Prices::empty());
    /// let reply = lm.complete(&LmRequest::new("example").user("?")).await?;
    /// assert_eq!(reply.cost_msats, None, "the model has no price");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(inner: L, prices: Prices) -> Self {
        let price = prices.get(inner.id());
        Self {
            inner,
            prices,
            price,
            budget: None,
            allow_unpriced: false,
        }
    }

    setters! {
        /// Sets the budget.
        ///
        /// ```
        /// use dsrs_metrics::lm::{LanguageModel, LmBudget, LmError, LmRequest, Priced, ScriptedLm};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// # let price = dsrs_metrics::lm::Price { input: 1.0, output: 1.0, cached_input: None };
        /// # let prices = dsrs_metrics::lm::Prices::empty().with("scripted:lm", price);
        /// let scripted = ScriptedLm::new().otherwise("yes");
        /// let lm = Priced::new(&scripted, prices).budget(LmBudget::msats(10_000));
        /// lm.complete(&LmRequest::new("example").user("?")).await?;
        /// assert_eq!(scripted.requests()[0].sampling.max_tokens, Some(4096), "the request had no limit");
        /// # Ok(())
        /// # }
        /// ```
        pub fn budget(budget: LmBudget) => budget = Some(budget);

        /// Sets whether the budget allows calls to a model without a price.
        ///
        /// The budget does not include the cost of these calls.
        ///
        /// ```
        /// use dsrs_metrics::lm::{
        ///     LanguageModel, LmBudget, LmError, LmErrorKind, LmRequest, Priced, Prices,
        ///     ScriptedLm,
        /// };
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), LmError> {
        /// let scripted = ScriptedLm::new().otherwise("yes");
        /// let lm = || Priced::new(&scripted, Prices::empty()).budget(LmBudget::msats(500));
        /// let request = LmRequest::new("example").user("?");
        /// let error = lm().complete(&request).await.unwrap_err();
        /// assert_eq!(error.kind(), &LmErrorKind::Unpriced);
        /// assert_eq!(lm().allow_unpriced(true).complete(&request).await?.text, "yes");
        /// # Ok(())
        /// # }
        /// ```
        pub fn allow_unpriced(allow: bool) => allow_unpriced = allow;
    }

    /// Calls the model, and sets and charges the cost.
    async fn charged<T>(
        &self,
        request: &LmRequest,
        call: impl Future<Output = Result<T, LmError>>,
        reply_of: fn(&mut T) -> Option<&mut LmReply>,
    ) -> Result<T, LmError> {
        let max_cost = self.max_cost(request);
        let reservation = self.reserve(max_cost).await?;
        let mut attempt = Attempt {
            cost: max_cost,
            reservation,
        };
        let mut result = call.await.map_err(|error| match error.cost_msats() {
            None => {
                let cost = self.cost_of(&error.usage());
                error.with_cost_msats(cost.or(max_cost))
            }
            Some(_) => error,
        });
        attempt.cost = match &mut result {
            Ok(answer) => match reply_of(answer) {
                Some(reply) => {
                    let tokens = reply.usage.completion_tokens.unwrap_or(0);
                    if let (Some(budget), Some(limit)) = (&self.budget, request.sampling.max_tokens)
                    {
                        budget.check_tokens(self.inner.id(), tokens, limit);
                    }
                    // Under a budget, a reply without token usage costs the highest amount possible.
                    let reserved = attempt.reservation.as_ref().map(|it| it.msats);
                    let cost = reply.cost_msats.or_else(|| self.cost_of(&reply.usage));
                    reply.cost_msats = cost.or(reserved);
                    reply.cost_msats
                }
                None => Some(0),
            },
            Err(error) => error.cost_msats(),
        };
        result
    }

    /// Reserves the highest possible cost of a call, if there is a budget.
    async fn reserve(&self, max_cost: Option<u64>) -> Result<Option<Reservation>, LmError> {
        let Some(budget) = &self.budget else {
            return Ok(None);
        };
        let reservation = match max_cost {
            Some(msats) => match take_reservation(budget, msats) {
                Some(reservation) => Some(reservation),
                None => budget.reserve(self.inner.id(), &[msats]).await?.pop(),
            },
            None if self.allow_unpriced => None,
            None => return Err(LmError::new(self.inner.id(), LmErrorKind::Unpriced)),
        };
        reservation.map(Reservation::started).transpose()
    }

    fn max_cost(&self, request: &LmRequest) -> Option<u64> {
        max_cost(&self.prices, self.price.as_ref()?, request)
    }

    /// Returns the request to send, with a token limit if the cost is limited.
    fn limited<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        match self.budget.is_some() && self.price.is_some() {
            true => limited(request),
            false => Cow::Borrowed(request),
        }
    }

    fn cost_of(&self, usage: &Usage) -> Option<u64> {
        self.prices.msats(self.price.as_ref()?, usage)
    }
}

/// An attempt at a call. If dropped before it returns (the call was cancelled), it costs the highest amount possible,
/// because the provider may charge for it.
struct Attempt {
    /// The cost in msat, or the highest possible cost until the actual cost is known. `None` if both are unknown.
    cost: Option<u64>,
    reservation: Option<Reservation>,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        add_cost(self.cost);
        if let (Some(reservation), Some(cost)) = (&mut self.reservation, self.cost) {
            reservation.spent = cost;
        }
    }
}

/// Returns the highest possible cost of a call in msat, if its reply is limited.
pub(crate) fn max_cost(prices: &Prices, price: &Price, request: &LmRequest) -> Option<u64> {
    let max_tokens = match request.sampling.max_tokens {
        Some(tokens) => u64::from(tokens),
        None if price.output == 0.0 => 0,
        None => return None,
    };
    let usage = Usage::new(max_prompt_tokens(request), max_tokens);
    Some(prices.msats(price, &usage).unwrap_or(u64::MAX))
}

/// Limits the tokens in the reply, because nothing else bounds its cost under a budget.
pub(crate) fn limited(request: &LmRequest) -> Cow<'_, LmRequest> {
    if request.sampling.max_tokens.is_some() {
        return Cow::Borrowed(request);
    }
    let mut limited = request.clone();
    limited.sampling.max_tokens = Some(DEFAULT_MAX_TOKENS);
    Cow::Owned(limited)
}

/// Returns an upper bound on the prompt's tokens, because a token has at least one byte. The constants cover what
/// providers add around a message and a schema.
fn max_prompt_tokens(request: &LmRequest) -> u64 {
    let messages = request.messages.iter().map(|it| it.content.len() + 16);
    let schema = request.schema.as_ref();
    let schema = schema.map_or(0, |schema| schema.schema.to_string().len() + 200);
    (messages.sum::<usize>() + schema + 64) as u64
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Priced<L> {
    layer_over_inner!();

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let sent = self.limited(request);
        let reply = self.charged(&sent, self.inner.complete(&sent), |reply| Some(reply));
        let mut reply = reply.await?;
        reply.is_truncated_by_budget = reply.stop_reason == StopReason::Length
            && sent.sampling.max_tokens != request.sampling.max_tokens;
        Ok(reply)
    }

    fn quote(&self, request: &LmRequest) -> Option<Quote> {
        let budget = self.budget.clone()?;
        let msats = self.max_cost(&self.limited(request))?;
        Some(Quote {
            budget,
            model: self.inner.id().to_owned(),
            msats,
        })
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let request = probe_request();
        let budget = self.budget.as_ref();
        let is_spent_before = budget.is_some_and(|budget| budget.spent_before_msats() > 0);
        let probed = self.charged(&request, self.inner.probe(), Option::as_mut);
        match probed.await {
            // An interrupted run spent the whole budget. No call can be made, so no probe is needed.
            Err(error) if error.is_refused() && is_spent_before => Ok(None),
            probed => probed,
        }
    }
}
