//! One limit on requests and tokens per minute, shared by all who call.
//!
//! `governor` counts cells that are gone once taken. Tokens are not known before the reply, so they are
//! reserved and then settled, which needs a bucket that can be given back to; hence this small one.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{LanguageModel, LmError, LmReply, LmRequest};

/// A limit on requests and on tokens per minute. Clones share it: give the same one to every model that
/// draws on one account.
///
/// Calls wait, first come, first served; none is refused. No 60 seconds see more than the limit, since a
/// tenth of it may come at once and the rest is spread over the minute (so in the long run it is used to
/// nine tenths). Tokens are estimated before the call (a token for every three bytes of the prompt, and
/// `max_tokens` or 1,024 for the reply) and settled with what the provider counted.
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, Limited, Limiter, LmError, LmRequest, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let limiter = Limiter::new().requests_per_minute(500).tokens_per_minute(200_000);
/// let lm = Limited::new(ScriptedLm::new().otherwise("yes"), limiter);
/// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "yes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Limiter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    buckets: Mutex<Buckets>,
    /// Held by whoever is next; it hands out turns in the order in which they were asked for.
    turn: tokio::sync::Mutex<()>,
    given_back: Notify,
}

#[derive(Debug, Clone, Default)]
struct Buckets {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl Limiter {
    /// No limit yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many requests in any 60 seconds.
    #[must_use]
    pub fn requests_per_minute(self, limit: u32) -> Self {
        self.lock().requests = Some(Bucket::new(f64::from(limit.max(1))));
        self
    }

    /// At most so many tokens in any 60 seconds, prompts and replies together. A call that alone is larger
    /// is let through once nothing else is.
    #[must_use]
    pub fn tokens_per_minute(self, limit: u32) -> Self {
        self.lock().tokens = Some(Bucket::new(f64::from(limit.max(1))));
        self
    }

    fn lock(&self) -> MutexGuard<'_, Buckets> {
        self.shared.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_unlimited(&self) -> bool {
        let buckets = self.lock();
        buckets.requests.is_none() && buckets.tokens.is_none()
    }

    /// Waits for its turn, and takes one request and so many tokens.
    async fn take(&self, tokens: f64) {
        if self.is_unlimited() {
            return;
        }
        let _turn = self.shared.turn.lock().await;
        loop {
            let given_back = self.shared.given_back.notified();
            let wait = self.lock().take(Instant::now(), tokens);
            if wait.is_zero() {
                return;
            }
            // Whoever gives tokens back may shorten the wait.
            let _ = tokio::time::timeout(wait, given_back).await;
        }
    }

    /// Corrects an estimate by what was used.
    fn settle(&self, taken: f64, used: f64) {
        if let Some(bucket) = &mut self.lock().tokens {
            bucket.level = (bucket.level + taken - used).min(bucket.capacity);
        }
        if used < taken {
            self.shared.given_back.notify_one();
        }
    }
}

impl Buckets {
    /// Takes, or says how long to wait before trying again.
    fn take(&mut self, now: Instant, tokens: f64) -> Duration {
        let mut wait = Duration::ZERO;
        for (bucket, need) in [(&mut self.requests, 1.0), (&mut self.tokens, tokens)] {
            if let Some(bucket) = bucket {
                bucket.fill(now);
                wait = wait.max(bucket.wait(need));
            }
        }
        if wait.is_zero() {
            for (bucket, need) in [(&mut self.requests, 1.0), (&mut self.tokens, tokens)] {
                if let Some(bucket) = bucket {
                    bucket.level -= need;
                }
            }
        }
        wait
    }
}

/// Fills at a steady rate, and holds what may come at once. May owe after a call that was larger than it.
#[derive(Debug, Clone)]
struct Bucket {
    level: f64,
    capacity: f64,
    per_second: f64,
    filled: Instant,
}

impl Bucket {
    fn new(limit: f64) -> Self {
        let capacity = (limit / 10.0).floor().max(1.0);
        // What comes at once, and what is filled up in the 60 seconds after its first, is the limit.
        let per_second = (limit - capacity + 1.0) / 60.0;
        Self { level: capacity, capacity, per_second, filled: Instant::now() }
    }

    fn fill(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.filled).as_secs_f64();
        self.level = (self.level + seconds * self.per_second).min(self.capacity);
        self.filled = now;
    }

    fn wait(&self, need: f64) -> Duration {
        let missing = need.min(self.capacity) - self.level;
        // Less than a thousandth of a unit is rounding.
        if missing <= 1e-3 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64(missing / self.per_second).max(Duration::from_millis(1))
    }
}

/// A model whose calls keep to a [`Limiter`].
#[derive(Debug)]
pub struct Limited<L> {
    inner: L,
    limiter: Limiter,
}

impl<L> Limited<L> {
    /// Keeps the calls of `inner` to `limiter`.
    pub fn new(inner: L, limiter: Limiter) -> Self {
        Self { inner, limiter }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Limited<L> {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn endpoint(&self) -> Option<&str> {
        self.inner.endpoint()
    }

    fn as_sent<'a>(&self, request: &'a LmRequest) -> Cow<'a, LmRequest> {
        self.inner.as_sent(request)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let estimate = Estimate::of(request);
        self.limiter.take(estimate.total()).await;
        let reply = self.inner.complete(request).await;
        self.limiter.settle(estimate.total(), estimate.used(reply.as_ref().map(Some)));
        reply
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let estimate = Estimate::of(&super::probe_request());
        self.limiter.take(estimate.total()).await;
        let reply = self.inner.probe().await;
        self.limiter.settle(estimate.total(), estimate.used(reply.as_ref().map(Option::as_ref)));
        reply
    }
}

/// The tokens of a call, before it is made.
struct Estimate {
    prompt: f64,
    reply: f64,
}

impl Estimate {
    fn of(request: &LmRequest) -> Self {
        let bytes: usize = request.messages.iter().map(|message| message.content.len() + 12).sum();
        let reply = request.sampling.max_tokens.map_or(1024.0, f64::from);
        Self { prompt: exact((bytes as u64).div_ceil(3)), reply }
    }

    fn total(&self) -> f64 {
        self.prompt + self.reply
    }

    /// What the call used; a provider that does not say is taken to have used what was estimated.
    fn used(&self, reply: Result<Option<&LmReply>, &LmError>) -> f64 {
        match reply {
            Ok(Some(reply)) if reply.usage.total() > 0 => exact(reply.usage.total()),
            Ok(Some(_)) => self.total(),
            Ok(None) => 0.0,
            Err(_) => self.prompt,
        }
    }
}

fn exact(tokens: u64) -> f64 {
    tokens as f64
}
