//! The layer that repeats a call after a transient failure.

use std::time::Duration;

use async_trait::async_trait;
use backon::{BackoffBuilder, ExponentialBuilder};

use super::super::model::layer_over_inner;
use super::super::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, Usage};

/// A policy that determines how many times a call is retried.
///
/// The policy also determines how long to wait before each retry.
///
/// Only transient failures are retried; see [`LmError::is_transient`]. A truncated response is retried only once,
/// because the provider probably charged for it.
///
/// The delays double and have jitter, so calls that failed together do not retry together.
///
/// If the provider requests a delay (`Retry-After`), the call waits at least that long. If the requested delay exceeds
/// [`max_retry_after`](Self::max_retry_after), the call fails immediately.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::RetryPolicy;
///
/// let policy = RetryPolicy { max_attempts: 3, ..RetryPolicy::default() };
/// assert_eq!(policy.initial_delay, Duration::from_millis(500));
/// assert_eq!(policy.max_retry_after, Duration::from_secs(120));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of attempts, including the first.
    ///
    /// A value of 1 disables retries. The default is 6.
    pub max_attempts: u32,
    /// The delay before the first retry.
    ///
    /// The default is 0.5 s.
    pub initial_delay: Duration,
    /// The maximum delay between attempts.
    ///
    /// Delays double until they reach this maximum. The default is 30 s.
    pub max_delay: Duration,
    /// The longest delay that a provider can request.
    ///
    /// If the provider requests a longer delay, the call fails. The default is 2 min.
    pub max_retry_after: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 6,
            initial_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            max_retry_after: Duration::from_secs(120),
        }
    }
}

impl RetryPolicy {
    /// Creates a policy without retries.
    ///
    /// ```
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmErrorKind, LmRequest, Retry, RetryPolicy, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let lost = LmErrorKind::Disconnected("connection reset".into());
    /// let scripted = ScriptedLm::new().otherwise(LmError::new("scripted:lm", lost));
    /// let lm = Retry::new(&scripted, RetryPolicy::never());
    /// lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// assert_eq!(scripted.calls(), 1);
    /// # }
    /// ```
    pub fn never() -> Self {
        Self {
            max_attempts: 1,
            ..Self::default()
        }
    }

    fn delays(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        let retries = self.max_attempts.max(1) as usize - 1;
        ExponentialBuilder::default()
            .with_min_delay(self.initial_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(retries)
            .with_jitter()
            .build()
    }
}

/// A model that retries transient failures.
///
/// The reply or error contains the cost and tokens of all attempts. An error also contains the number of attempts.
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::lm::{
///     LanguageModel, LmError, LmErrorKind, LmRequest, Retry, RetryPolicy, ScriptedLm,
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(1) };
/// let timeout = LmError::new("scripted:lm", timeout);
/// let lm = ScriptedLm::new().replies([timeout]).otherwise("second attempt");
/// let policy = RetryPolicy { initial_delay: Duration::from_millis(1), ..RetryPolicy::default() };
/// let lm = Retry::new(lm, policy);
/// assert_eq!(lm.complete(&LmRequest::new("example").user("?")).await?.text, "second attempt");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Retry<L> {
    inner: L,
    policy: RetryPolicy,
}

impl<L> Retry<L> {
    /// Wraps `inner` and retries its calls.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{
    ///     LanguageModel, LmError, LmErrorKind, LmRequest, Retry, RetryPolicy, ScriptedLm,
    /// };
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let timeout = LmErrorKind::Timeout { limit: Duration::from_secs(60) };
    /// let timeout = LmError::new("scripted:lm", timeout).with_cost_msats(Some(100));
    /// let policy = RetryPolicy {
    ///     max_attempts: 3,
    ///     initial_delay: Duration::from_millis(1),
    ///     ..RetryPolicy::default()
    /// };
    /// let lm = Retry::new(ScriptedLm::new().otherwise(timeout), policy);
    /// let error = lm.complete(&LmRequest::new("example").user("?")).await.unwrap_err();
    /// assert_eq!((error.attempts(), error.cost_msats()), (3, Some(300)));
    /// # }
    /// ```
    pub fn new(inner: L, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Retry<L> {
    layer_over_inner!();

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let mut delays = self.policy.delays();
        let (mut failed_cost, mut failed_usage) = (Some(0), Usage::default());
        let (mut attempts, mut was_truncated) = (1, false);
        loop {
            let error = match self.inner.complete(request).await {
                Ok(mut reply) => {
                    reply.usage += failed_usage;
                    reply.cost_is_lower_bound |= failed_cost.is_none();
                    let failed = failed_cost.unwrap_or(0);
                    reply.cost_msats = reply.cost_msats.map(|cost| cost.saturating_add(failed));
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let costs = failed_cost.zip(error.cost_msats());
            failed_cost = costs.map(|(sum, cost): (u64, u64)| sum.saturating_add(cost));
            failed_usage += error.usage();
            let is_truncated = matches!(error.kind(), LmErrorKind::TruncatedReply { .. });
            let is_repeated = error.is_transient()
                && !(is_truncated && std::mem::replace(&mut was_truncated, true));
            let delay = if is_repeated { delays.next() } else { None };
            let retry_after = error.retry_after().unwrap_or_default();
            match delay {
                Some(delay) if retry_after <= self.policy.max_retry_after => {
                    // The provider's delay is a minimum, so jitter is added to it.
                    tokio::time::sleep(match retry_after.is_zero() {
                        true => delay,
                        false => retry_after + delay / 4,
                    })
                    .await;
                }
                _ if attempts == 1 => return Err(error),
                _ => {
                    let error = error.with_attempts(attempts).with_usage(failed_usage);
                    return Err(error.with_cost_msats(failed_cost));
                }
            }
            attempts += 1;
        }
    }
}
