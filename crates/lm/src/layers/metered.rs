//! The layer that records calls in a ledger.

use std::sync::Arc;

use super::super::ledger::{CallTotals, Ledger};
use super::super::{LanguageModel, LmError, LmReply, LmRequest, PROBE_PURPOSE};
use super::Layer;
use super::cost_scope::CostScope;

/// A model whose calls are recorded in a [`Ledger`].
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, Ledger, LmError, LmRequest, Metered, ScriptedLm, Usage};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LmError> {
/// let ledger = Ledger::new();
/// let scripted = ScriptedLm::new().otherwise("yes").usage(Usage::new(40, 2)).cost(12);
/// let lm = Metered::new(scripted, ledger.clone());
/// lm.complete(&LmRequest::new("judge politeness version 1").user("?")).await?;
/// assert_eq!(
///     ledger.total().to_string(),
///     "1 call (0 cached, 0 failed), 40 prompt + 2 completion tokens, 12 msat"
/// );
/// assert_eq!(ledger.by_purpose()["judge politeness version 1"].cost_msats, 12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Metered<L> {
    inner: L,
    ledger: Ledger,
}

impl<L> Metered<L> {
    /// Records the calls of `inner` in `ledger`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::{LanguageModel, Ledger, LmRequest, Metered, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let ledger = Ledger::new();
    /// let slow = ScriptedLm::new().otherwise("yes").latency(Duration::from_secs(60));
    /// let lm = Metered::new(slow, ledger.clone());
    /// let request = LmRequest::new("example").user("?");
    /// let call = tokio::time::timeout(Duration::from_millis(5), lm.complete(&request));
    /// assert!(call.await.is_err());
    /// assert_eq!((ledger.total().calls, ledger.total().failed), (1, 1), "the call was cancelled");
    /// # }
    /// ```
    pub fn new(inner: L, ledger: Ledger) -> Self {
        Self { inner, ledger }
    }
}

/// A call that has not returned. If it is dropped, it is recorded as failed, with the cost of its
/// attempts so far.
struct PendingCall<'a> {
    ledger: &'a Ledger,
    purpose: &'a str,
    cost: Arc<CostScope>,
    has_returned: bool,
}

impl<'a> PendingCall<'a> {
    fn new(ledger: &'a Ledger, purpose: &'a str) -> Self {
        Self { ledger, purpose, cost: Arc::default(), has_returned: false }
    }

    /// Returns the result, with the number of attempts of unknown cost.
    async fn run<T>(mut self, call: impl Future<Output = T>) -> (T, u64) {
        let result = self.cost.scope(call).await;
        self.has_returned = true;
        (result, self.cost.unknown())
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if self.has_returned {
            return;
        }
        let (cost_msats, unpriced) = (self.cost.msats(), self.cost.unknown());
        let call =
            CallTotals { calls: 1, failed: 1, cost_msats, unpriced, ..CallTotals::default() };
        self.ledger.add(self.purpose, call);
    }
}

impl<L> Metered<L> {
    fn record(&self, purpose: &str, result: &Result<LmReply, LmError>, unknown: u64) {
        let call = CallTotals::of(result);
        self.ledger.add(purpose, CallTotals { unpriced: call.unpriced.max(unknown), ..call });
    }
}

impl<L: LanguageModel> Layer for Metered<L> {
    fn inner(&self) -> &dyn LanguageModel {
        &self.inner
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let pending = PendingCall::new(&self.ledger, &request.purpose);
        let (result, unknown) = pending.run(self.inner.complete(request)).await;
        self.record(&request.purpose, &result, unknown);
        result
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let pending = PendingCall::new(&self.ledger, PROBE_PURPOSE);
        let (probed, unknown) = pending.run(self.inner.probe()).await;
        if let Some(result) = probed.clone().transpose() {
            self.record(PROBE_PURPOSE, &result, unknown);
        }
        probed
    }
}
