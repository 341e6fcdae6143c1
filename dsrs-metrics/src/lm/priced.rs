//! The layer that says what a call cost, and keeps a budget.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Notify;

use super::charges;
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
    /// The most that a call might have cost which was not covered.
    uncovered: Option<u64>,
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

    /// The most that a call might have cost which it did not cover; `None` if it covered all.
    #[must_use]
    pub fn uncovered_msats(&self) -> Option<u64> {
        self.lock().uncovered
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
            held.uncovered = held.uncovered.max(Some(msats));
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

/// Money set aside for one call.
#[derive(Debug)]
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

/// A call under way. Dropped before its end (the call was cancelled), it counts with the most that it can cost: the
/// provider may charge it.
struct Attempt<'a> {
    /// What it cost, or until that is known the most that it can cost; `None` if nothing says.
    cost: Option<u64>,
    reserved: Option<Reserved<'a>>,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        charges::tell(self.cost);
        if let (Some(reserved), Some(cost)) = (&mut self.reserved, self.cost) {
            reserved.spent = cost;
        }
    }
}

/// A model whose replies say what they cost.
///
/// Here alone it is decided what a call counts with: the reply's tokens at their price; nothing where the provider reports an error
/// or cannot be reached; and the most that it can have cost where it may have been charged although no whole reply
/// came (a timeout, a broken connection, half a reply, a call that was dropped), if `max_tokens` bounds that. The budget is charged so
/// much, and the reply or error carries it to the [`Ledger`](super::Ledger) and to the outcome of the row.
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

    /// Makes a call whose request is `sent`, and says what it cost.
    async fn paid<T>(
        &self,
        sent: &LmRequest,
        call: impl Future<Output = Result<T, LmError>>,
        reply_of: fn(&mut T) -> Option<&mut LmReply>,
    ) -> Result<T, LmError> {
        let worst = self.worst(sent);
        let reserved = self.reserve(worst).await?;
        let mut attempt = Attempt { cost: worst, reserved };
        let mut result = call.await.map_err(|error| match error.cost_msats() {
            None => error.charged(worst),
            Some(_) => error,
        });
        attempt.cost = match &mut result {
            Ok(answer) => match reply_of(answer) {
                Some(reply) => {
                    // Under a budget, a reply that does not say its tokens costs what it can have cost.
                    let at_most = attempt.reserved.as_ref().map(|reserved| reserved.msats);
                    reply.cost_msats = self.cost(reply).or(at_most);
                    reply.cost_msats
                }
                None => Some(0),
            },
            Err(error) => error.cost_msats(),
        };
        result
    }

    /// Sets the most that the call can cost aside, if there is a budget.
    async fn reserve(&self, worst: Option<u64>) -> Result<Option<Reserved<'_>>, LmError> {
        let Some(budget) = &self.budget else { return Ok(None) };
        match worst {
            Some(worst) => budget.reserve(self.inner.id(), worst).await.map(Some),
            None if self.allow_unpriced => Ok(None),
            None => Err(LmError::Unpriced { lm: self.inner.id().to_owned() }),
        }
    }

    /// The most that a call can cost, if the model has a price and something bounds the reply.
    fn worst(&self, sent: &LmRequest) -> Option<u64> {
        let price = self.price.as_ref()?;
        let most = match sent.sampling.max_tokens {
            Some(tokens) => u64::from(tokens),
            None if price.output == 0.0 => 0,
            None => return None,
        };
        let worst = self.prices.msats(price, &Usage::new(most_prompt_tokens(sent), most));
        Some(worst.unwrap_or(u64::MAX))
    }

    fn cost(&self, reply: &LmReply) -> Option<u64> {
        let of_tokens = || self.prices.msats(self.price.as_ref()?, &reply.usage);
        reply.cost_msats.or_else(of_tokens)
    }
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

    /// Under a budget a request has a limit on the reply's tokens, since nothing else bounds what it can cost.
    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        let mut sent = self.inner.as_sent(request);
        let is_bounded = self.budget.is_some() && self.price.is_some();
        if is_bounded && sent.sampling.max_tokens.is_none() {
            sent.to_mut().sampling.max_tokens = Some(MAX_TOKENS);
        }
        sent
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let sent = self.as_sent(request);
        self.paid(&sent, self.inner.complete(&sent), |reply| Some(reply)).await
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.paid(&super::probe_request(), self.inner.probe(), Option::as_mut).await
    }
}
