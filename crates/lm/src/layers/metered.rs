//! The layer that records calls in a ledger.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use super::super::call_observer::ObservedCall;
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
    lm: &'a dyn LanguageModel,
    /// `None` for a probe.
    request: Option<&'a LmRequest>,
    cost: Arc<CostScope>,
    started: Instant,
    has_returned: bool,
}

impl<'a> PendingCall<'a> {
    fn new(ledger: &'a Ledger, lm: &'a dyn LanguageModel, request: Option<&'a LmRequest>) -> Self {
        let (cost, started) = (Arc::default(), Instant::now());
        Self {
            ledger,
            lm,
            request,
            cost,
            started,
            has_returned: false,
        }
    }

    /// Awaits the call, and records its result, which `result` returns; `None` if no call was made.
    async fn run<T>(
        mut self,
        call: impl Future<Output = T>,
        result: impl FnOnce(&T) -> Option<Cow<'_, Result<LmReply, LmError>>>,
    ) -> T {
        let returned = self.cost.scope(call).await;
        self.has_returned = true;
        if let Some(result) = result(&returned) {
            let call = CallTotals::of(&result);
            let unpriced = call.unpriced.max(self.cost.unknown());
            self.record(CallTotals { unpriced, ..call }, Some(&*result));
        }
        returned
    }

    fn record(&self, call: CallTotals, result: Option<&Result<LmReply, LmError>>) {
        self.ledger
            .add(self.request.map_or(PROBE_PURPOSE, |it| &it.purpose), call);
        self.ledger.notify(&ObservedCall {
            model: self.lm.id(),
            endpoint: self.lm.endpoint(),
            request: self.request,
            result,
            duration: self.started.elapsed(),
        });
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if self.has_returned {
            return;
        }
        let (cost_msats, unpriced) = (self.cost.msats(), self.cost.unknown());
        let call = CallTotals {
            calls: 1,
            failed: 1,
            cost_msats,
            unpriced,
            ..CallTotals::default()
        };
        self.record(call, None);
    }
}

impl<L: LanguageModel> Layer for Metered<L> {
    fn inner(&self) -> &dyn LanguageModel {
        &self.inner
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let pending = PendingCall::new(&self.ledger, &self.inner, Some(request));
        pending
            .run(self.inner.complete(request), |result| {
                Some(Cow::Borrowed(result))
            })
            .await
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let pending = PendingCall::new(&self.ledger, &self.inner, None);
        let result = |probed: &Result<Option<LmReply>, LmError>| probed.clone().transpose();
        pending
            .run(self.inner.probe(), |probed| result(probed).map(Cow::Owned))
            .await
    }
}
