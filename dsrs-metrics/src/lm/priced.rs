//! The layer that says what a call cost, and keeps a budget.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Notify;

use super::price::{Price, Prices};
use super::{LanguageModel, LmError, LmReply, LmRequest, Usage};

/// Money that all calls of a run may cost together, in msat. Clones share it.
///
/// The most that a call can cost is set aside before it, and settled after it, so the limit is never
/// overrun, whatever the concurrency. A call that what is set aside for others keeps from being covered waits until
/// they are settled: most calls cost far less than they might. A call that might have been charged although no reply came (a timeout,
/// a broken connection, half a reply) counts with all that was set aside.
#[derive(Debug, Clone)]
pub struct LmBudget {
    limit: u64,
    state: Arc<Mutex<Held>>,
    /// Told whenever a call is settled.
    settled: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Held {
    spent: u64,
    reserved: u64,
}

impl LmBudget {
    /// A limit of so many msat.
    #[must_use]
    pub fn msats(limit: u64) -> Self {
        Self { limit, state: Arc::default(), settled: Arc::default() }
    }

    /// What is spent so far.
    #[must_use]
    pub fn spent_msats(&self) -> u64 {
        self.lock().spent
    }

    /// What is neither spent nor set aside.
    #[must_use]
    pub fn left_msats(&self) -> u64 {
        let held = self.lock();
        self.limit.saturating_sub(held.spent + held.reserved)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn reserve(&self, lm: &str, msats: u64) -> Result<Reserved<'_>, LmError> {
        loop {
            let mut settled = pin!(self.settled.notified());
            // From here on no settling is missed.
            settled.as_mut().enable();
            if let Some(reserved) = self.try_reserve(lm, msats)? {
                return Ok(reserved);
            }
            settled.await;
        }
    }

    /// `None` if the call might be covered once others are settled.
    fn try_reserve(&self, lm: &str, msats: u64) -> Result<Option<Reserved<'_>>, LmError> {
        let mut held = self.lock();
        let left_msats = self.limit.saturating_sub(held.spent);
        if msats > left_msats {
            let (lm, needed_msats, budget_msats) = (lm.to_owned(), msats, self.limit);
            return Err(LmError::OverBudget { lm, needed_msats, left_msats, budget_msats });
        }
        if msats > left_msats.saturating_sub(held.reserved) {
            return Ok(None);
        }
        held.reserved += msats;
        Ok(Some(Reserved { budget: self, msats, spent: msats }))
    }
}

/// Money set aside for one call. Dropped without being settled (the call was cancelled on its way), it counts
/// as spent: the provider may charge it.
struct Reserved<'a> {
    budget: &'a LmBudget,
    msats: u64,
    spent: u64,
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut held = self.budget.lock();
        held.reserved -= self.msats;
        held.spent += self.spent;
        drop(held);
        self.budget.settled.notify_waiters();
    }
}

/// A model whose replies say what they cost.
///
/// With a budget, a model without a price is an error ([`LmError::Unpriced`]), unless
/// [unpriced calls are allowed](Self::allow_unpriced): nothing escapes the limit unnoticed. A request that sets no
/// `max_tokens` is then sent with 4,096, since nothing else bounds what it can cost.
#[derive(Debug)]
pub struct Priced<L> {
    inner: L,
    prices: Prices,
    price: Option<Price>,
    budget: Option<LmBudget>,
    allow_unpriced: bool,
}

/// The limit on reply tokens under a budget, where the request sets none.
const MAX_TOKENS: u32 = 4096;

impl<L: LanguageModel> Priced<L> {
    /// Prices the calls of `inner`.
    pub fn new(inner: L, prices: Prices) -> Self {
        let price = prices.get(inner.id());
        Self { inner, prices, price, budget: None, allow_unpriced: false }
    }

    /// Keeps to a budget.
    #[must_use]
    pub fn budget(mut self, budget: LmBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Lets calls through that have no price although there is a budget; they count as free.
    #[must_use]
    pub fn allow_unpriced(mut self, allow: bool) -> Self {
        self.allow_unpriced = allow;
        self
    }

    async fn within(&self, budget: &LmBudget, request: &LmRequest) -> Result<LmReply, LmError> {
        let id = self.inner.id();
        let Some(price) = &self.price else {
            if self.allow_unpriced {
                return self.inner.complete(request).await;
            }
            return Err(LmError::Unpriced { lm: id.to_owned() });
        };
        let mut request = request.clone();
        let max_tokens = *request.sampling.max_tokens.get_or_insert(MAX_TOKENS);
        let worst = Usage::new(most_prompt_tokens(&request), u64::from(max_tokens));
        let worst = self.prices.msats(price, &worst).unwrap_or(u64::MAX);
        let mut reserved = budget.reserve(id, worst).await?;
        let mut result = self.inner.complete(&request).await;
        match &mut result {
            Ok(reply) => {
                // A reply that does not say its tokens costs what it can have cost.
                let cost = self.cost(reply).unwrap_or(worst);
                reply.cost_msats = Some(cost);
                reserved.spent = cost;
            }
            Err(LmError::BadReply { cost_msats, .. }) => *cost_msats = Some(worst),
            Err(error) if !may_be_charged(error) => reserved.spent = 0,
            Err(_) => {}
        }
        result
    }

    fn cost(&self, reply: &LmReply) -> Option<u64> {
        let price = self.price.as_ref()?;
        reply.cost_msats.or_else(|| self.prices.msats(price, &reply.usage))
    }
}

/// Whether the provider may have worked on the call and charge it, although there is no reply.
fn may_be_charged(error: &LmError) -> bool {
    matches!(
        error,
        LmError::Timeout { .. } | LmError::Disconnected { .. } | LmError::BadReply { .. }
    )
}

/// No token is shorter than a byte; the rest is what the provider puts around a message and a schema.
fn most_prompt_tokens(request: &LmRequest) -> u64 {
    let messages: usize = request.messages.iter().map(|message| message.content.len() + 16).sum();
    let schema = request.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len() + 200);
    (messages + schema + 64) as u64
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Priced<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.inner.endpoint()
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        if let Some(budget) = &self.budget {
            return self.within(budget, request).await;
        }
        let mut reply = self.inner.complete(request).await?;
        reply.cost_msats = self.cost(&reply);
        Ok(reply)
    }

    async fn probe(&self) -> Result<(), LmError> {
        if self.budget.is_some() && self.price.is_none() && !self.allow_unpriced {
            return Err(LmError::Unpriced { lm: self.inner.id().to_owned() });
        }
        self.inner.probe().await
    }
}
