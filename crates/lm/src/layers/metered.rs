//! The layer that records calls in a ledger.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;

use super::super::ledger::{CallTotals, Ledger, ObservedCall};
use super::super::model::layer_over_inner;
use super::super::{LanguageModel, LmError, LmReply, LmRequest, PROBE_PURPOSE, lock};

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
    /// Wraps `inner` and records its calls in `ledger`.
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

impl<L: LanguageModel> Metered<L> {
    fn pending<'a>(&'a self, request: Option<&'a LmRequest>) -> PendingCall<'a> {
        PendingCall {
            ledger: &self.ledger,
            lm: &self.inner,
            request,
            cost: Arc::default(),
            started: Instant::now(),
            has_returned: false,
        }
    }
}

tokio::task_local! {
    /// The cost of one call's attempts, kept so that a cancelled call counts too.
    static CURRENT: Arc<Mutex<CallTotals>>;
}

/// Adds the cost of an attempt in msat (`None` if unknown) to the current call, if there is one.
#[cfg(feature = "lm")]
pub(super) fn add_cost(msats: Option<u64>) {
    let attempt = CallTotals {
        cost_msats: msats.unwrap_or(0),
        unpriced: u64::from(msats.is_none()),
        ..CallTotals::default()
    };
    // This fails outside of a scope, where nothing records the call.
    let _ = CURRENT.try_with(|call| *lock(call) += attempt);
}

/// A call in progress. If dropped, it is recorded as failed, with the cost of its attempts so far.
struct PendingCall<'a> {
    ledger: &'a Ledger,
    lm: &'a dyn LanguageModel,
    /// `None` for a probe.
    request: Option<&'a LmRequest>,
    cost: Arc<Mutex<CallTotals>>,
    started: Instant,
    has_returned: bool,
}

impl PendingCall<'_> {
    /// Records the call. A probe that made no call has no result.
    fn end(mut self, result: Option<&Result<LmReply, LmError>>) {
        self.has_returned = true;
        if let Some(result) = result {
            let call = CallTotals::of(result);
            let unpriced = call.unpriced.max(lock(&self.cost).unpriced);
            self.record(CallTotals { unpriced, ..call }, Some(result));
        }
    }

    fn record(&self, call: CallTotals, result: Option<&Result<LmReply, LmError>>) {
        let purpose = self.request.map_or(PROBE_PURPOSE, |it| &it.purpose);
        self.ledger.add(purpose, call);
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
        if !self.has_returned {
            let cost = *lock(&self.cost);
            let call = CallTotals {
                calls: 1,
                failed: 1,
                ..cost
            };
            self.record(call, None);
        }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Metered<L> {
    layer_over_inner!();

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let pending = self.pending(Some(request));
        let call = self.inner.complete(request);
        let result = CURRENT.scope(Arc::clone(&pending.cost), call).await;
        pending.end(Some(&result));
        result
    }

    async fn probe(&self) -> Result<Option<LmReply>, LmError> {
        let pending = self.pending(None);
        let call = self.inner.probe();
        let probed = CURRENT.scope(Arc::clone(&pending.cost), call).await;
        pending.end(probed.clone().transpose().as_ref());
        probed
    }
}
