//! Asking again after a failure that may pass.

use std::borrow::Cow;
use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};

use super::{LanguageModel, LmError, LmReply, LmRequest};

/// How often, and after what delays, a call is tried again.
///
/// Only failures that may pass are ([`LmError::is_transient`]). The delays double and carry jitter, so that
/// workers that failed together do not come back together. If the provider says how long to wait
/// (`Retry-After`), the delay is at least that; if it asks for more than [`longest`](Self::longest), the call
/// is given up at once.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// How often a call is made at most, the first time included; 1 never retries. Default 6.
    pub attempts: u32,
    /// The first delay. Default 0.5 s.
    pub first_delay: Duration,
    /// No delay grows beyond this by doubling. Default 30 s.
    pub max_delay: Duration,
    /// The longest that a provider may ask to wait. Default 2 min.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 6,
            first_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            longest: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// Never tries again.
    #[must_use]
    pub fn never() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    fn delays(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let retries = self.attempts.max(1) as usize - 1;
        ExponentialBuilder::default()
            .with_min_delay(self.first_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(retries)
            .with_jitter()
            .build()
    }
}

/// A model whose passing failures are retried.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{LanguageModel, LmError, LmRequest, Retry, RetryPolicy, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let busy = LmError::Timeout { lm: "scripted:lm".into(), seconds: 1.0, cost_msats: None };
/// let lm = ScriptedLm::new().replies([busy]).otherwise("at last");
/// let policy = RetryPolicy { first_delay: Duration::from_millis(1), ..RetryPolicy::default() };
/// let lm = Retry::new(lm, policy);
/// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "at last");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Retry<L> {
    inner: L,
    policy: RetryPolicy,
}

impl<L> Retry<L> {
    /// Retries the calls of `inner`.
    pub fn new(inner: L, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Retry<L> {
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
        let mut delays = self.policy.delays();
        let mut paid = Some(0);
        let mut attempts = 1;
        loop {
            let error = match self.inner.complete(request).await {
                Ok(reply) => return Ok(with_paid(reply, paid)),
                Err(error) => error,
            };
            paid = sum(paid, error.cost_msats());
            let delay = if error.is_transient() { delays.next() } else { None };
            let asked = error.retry_after().unwrap_or_default();
            match delay {
                Some(delay) if asked <= self.policy.longest => {
                    // What the provider asks for is a lower bound; jitter is added to it all the same.
                    let delay = if asked.is_zero() { delay } else { asked + delay / 4 };
                    tokio::time::sleep(delay).await;
                }
                _ => return Err(given_up(error, attempts, paid)),
            }
            attempts += 1;
        }
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        self.inner.probe().await
    }
}

fn given_up(last: LmError, attempts: u32, cost_msats: Option<u64>) -> LmError {
    match attempts {
        1 => last,
        _ => LmError::GaveUp { attempts, last: Box::new(last), cost_msats },
    }
}

fn with_paid(mut reply: LmReply, paid: Option<u64>) -> LmReply {
    reply.cost_is_lower_bound |= paid.is_none();
    reply.cost_msats = reply.cost_msats.map(|cost| cost.saturating_add(paid.unwrap_or(0)));
    reply
}

/// The sum of something and an unknown is unknown.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}
