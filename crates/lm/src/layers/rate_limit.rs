//! The layer that limits requests and tokens per minute. A run's probes are not limited.
//!
//! `governor` cannot return units to its bucket. A call's tokens are known only after the reply, so they are reserved
//! first and settled later, which needs a bucket that takes units back.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::super::client::EndpointHash;
use super::super::model::layer_over_inner;
use super::super::{LanguageModel, LmError, LmReply, LmRequest};
use crate::lock;

/// A limiter for requests and tokens per minute.
///
/// Clones share the limits, so use one limiter for all models of an account.
///
/// If a call would exceed the limit, it waits. Calls proceed in order of arrival.
///
/// The limit holds over any 60 seconds. Short bursts can use up to a tenth of it. Over longer periods, you can use up
/// to nine tenths of it.
///
/// The limiter first estimates a call's tokens. It counts one token per three bytes of the prompt, plus `max_tokens` or
/// 1,024 for the reply. It corrects the estimate once the provider reports the usage.
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, RateLimit, RateLimiter, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let limiter = RateLimiter::new().requests_per_minute(500).tokens_per_minute(200_000);
/// let lm = RateLimit::new(ScriptedLm::new().otherwise("yes"), limiter);
/// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "yes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct RateLimiter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    buckets: Mutex<Buckets>,
    /// Locked by the next call. Tokio's mutex is fair, so calls proceed in order of arrival.
    queue: tokio::sync::Mutex<()>,
    /// Notified when a call returns tokens to the bucket.
    returned: Notify,
}

/// The bucket for requests, and the one for tokens.
type Buckets = [Option<Bucket>; 2];

type Limiters = HashMap<(EndpointHash, [Option<u32>; 2]), RateLimiter>;

impl RateLimiter {
    /// Creates a limiter without limits.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmRequest, RateLimit, RateLimiter, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let scripted = ScriptedLm::new().otherwise("yes");
    /// let lm = RateLimit::new(&scripted, RateLimiter::new());
    /// for _ in 0..1000 {
    ///     lm.complete(&LmRequest::new("example").user("?")).await?; // does not wait
    /// }
    /// assert_eq!(scripted.calls(), 1000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of requests in any 60-second period.
    ///
    /// A limit of 0 counts as 1.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmRequest, RateLimit, RateLimiter, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let limiter = RateLimiter::new().requests_per_minute(20);
    /// let lm = RateLimit::new(ScriptedLm::new().otherwise("yes"), limiter);
    /// let request = LmRequest::new("example").user("?");
    /// lm.complete(&request).await?;
    /// lm.complete(&request).await?;
    /// let third = tokio::time::timeout(Duration::from_millis(20), lm.complete(&request));
    /// assert!(third.await.is_err(), "a tenth of the limit is available at once");
    /// # Ok(())
    /// # }
    /// ```
    pub fn requests_per_minute(self, limit: u32) -> Self {
        lock(&self.shared.buckets)[0] = Some(Bucket::new(f64::from(limit.max(1))));
        self
    }

    /// Sets the maximum number of tokens in any 60-second period.
    ///
    /// Tokens in prompts and tokens in replies both count. A limit of 0 is treated as 1.
    ///
    /// A single call above the limit waits until the whole limit is available.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmRequest, RateLimit, RateLimiter, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), LmError> {
    /// let limiter = RateLimiter::new().tokens_per_minute(10_000);
    /// let lm = RateLimit::new(ScriptedLm::new().otherwise("yes"), limiter);
    /// let request = LmRequest::new("example").user("?"); // an estimated 5 + 1,024 tokens
    /// lm.complete(&request).await?;
    /// let second = tokio::time::timeout(Duration::from_millis(50), lm.complete(&request));
    /// assert!(second.await.is_err(), "a tenth of the limit is available at once");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tokens_per_minute(self, limit: u32) -> Self {
        lock(&self.shared.buckets)[1] = Some(Bucket::new(f64::from(limit.max(1))));
        self
    }

    /// Returns the limiter for an account with these limits on requests and tokens per minute. All models in this
    /// process share it, because providers limit an account, not a model.
    pub(crate) fn of_account(account: EndpointHash, limits: [Option<u32>; 2]) -> Self {
        static LIMITERS: LazyLock<Mutex<Limiters>> = LazyLock::new(Mutex::default);
        let limiter = || {
            let bucket = |limit: u32| Bucket::new(f64::from(limit));
            let limiter = Self::new();
            *lock(&limiter.shared.buckets) = limits.map(|limit| limit.map(bucket));
            limiter
        };
        let mut limiters = lock(&LIMITERS);
        let known = limiters.entry((account, limits));
        known.or_insert_with(limiter).clone()
    }

    /// Waits for one request and `tokens`, and takes them.
    async fn acquire(&self, tokens: f64) {
        if lock(&self.shared.buckets).iter().all(Option::is_none) {
            return;
        }
        let _next = self.shared.queue.lock().await;
        loop {
            let returned = self.shared.returned.notified();
            let wait = try_acquire(&mut lock(&self.shared.buckets), Instant::now(), tokens);
            if wait.is_zero() {
                return;
            }
            // Returned tokens may shorten the wait.
            let _ = tokio::time::timeout(wait, returned).await;
        }
    }

    /// Replaces a call's estimated tokens with the actual ones.
    fn settle(&self, estimated: f64, used: f64) {
        if let Some(bucket) = &mut lock(&self.shared.buckets)[1] {
            bucket.level = (bucket.level + estimated - used).min(bucket.capacity);
        }
        if used < estimated {
            self.shared.returned.notify_one();
        }
    }
}

/// Takes one request and `tokens`, or returns how long to wait before trying again.
fn try_acquire(buckets: &mut Buckets, now: Instant, tokens: f64) -> Duration {
    let taken = buckets.iter_mut().zip([1.0, tokens]);
    let taken = taken.filter_map(|(bucket, amount)| Some((bucket.as_mut()?, amount)));
    let mut taken: Vec<(&mut Bucket, f64)> = taken.collect();
    let waits = taken
        .iter_mut()
        .map(|(bucket, amount)| bucket.wait(*amount, now));
    let wait = waits.max().unwrap_or_default();
    if wait.is_zero() {
        for (bucket, amount) in taken {
            bucket.level -= amount;
        }
    }
    wait
}

/// A token bucket that refills steadily up to its capacity. Its level is negative after a call larger than the
/// capacity.
#[derive(Debug, Clone)]
struct Bucket {
    level: f64,
    capacity: f64,
    per_second: f64,
    refilled: Instant,
}

impl Bucket {
    fn new(limit: f64) -> Self {
        let capacity = (limit / 10.0).floor().max(1.0);
        // The capacity plus what refills in the 60 seconds after the first unit is taken equals the limit.
        let per_second = (limit - capacity + 1.0) / 60.0;
        Self {
            level: capacity,
            capacity,
            per_second,
            refilled: Instant::now(),
        }
    }

    /// Refills the bucket, and returns the time until it holds this amount.
    fn wait(&mut self, amount: f64, now: Instant) -> Duration {
        let seconds = now.saturating_duration_since(self.refilled).as_secs_f64();
        self.level = (self.level + seconds * self.per_second).min(self.capacity);
        self.refilled = now;
        let missing = amount.min(self.capacity) - self.level;
        // Less than a thousandth of a unit is a rounding error.
        if missing <= 1e-3 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(missing / self.per_second).max(Duration::from_millis(1))
    }
}

/// A model whose calls wait for a [`RateLimiter`].
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, RateLimit, RateLimiter, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let limiter = RateLimiter::new().requests_per_minute(1);
/// let one = RateLimit::new(ScriptedLm::new().otherwise("yes"), limiter.clone());
/// let other = RateLimit::new(ScriptedLm::new().otherwise("yes"), limiter);
/// let request = LmRequest::new("example").user("?");
/// one.complete(&request).await?;
/// let waiting = tokio::time::timeout(Duration::from_millis(20), other.complete(&request));
/// assert!(waiting.await.is_err(), "the models share the limit");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RateLimit<L> {
    inner: L,
    limiter: RateLimiter,
}

impl<L> RateLimit<L> {
    /// Wraps `inner` and limits its calls with `limiter`.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, RateLimit, RateLimiter, ScriptedLm};
    ///
    /// let lm = RateLimit::new(ScriptedLm::new().named("openai:gpt-6-luna"), RateLimiter::new());
    /// assert_eq!(lm.id(), "openai:gpt-6-luna", "a layer has the name of its model");
    /// ```
    pub fn new(inner: L, limiter: RateLimiter) -> Self {
        Self { inner, limiter }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for RateLimit<L> {
    layer_over_inner!();

    /// Makes a call within the limits. If the provider reports no usage, the estimate stands.
    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        // An estimate: a token has three bytes, and a message has four more tokens.
        let bytes = request.messages.iter();
        let bytes: usize = bytes.map(|message| message.content.len() + 12).sum();
        let prompt = (bytes as u64).div_ceil(3) as f64;
        let estimated = prompt + request.sampling.max_tokens.map_or(1024.0, f64::from);
        self.limiter.acquire(estimated).await;
        let result = self.inner.complete(request).await;
        let used = match &result {
            Ok(reply) if reply.usage.total() > 0 => reply.usage.total() as f64,
            Ok(_) => estimated,
            Err(_) => prompt,
        };
        self.limiter.settle(estimated, used);
        result
    }
}
