//! The records of calls in a journal: their replies, which the journal returns when the row is evaluated again, and their
//! reservations from a budget, before they are made.
//!
//! [`Lm`](super::Lm), [`Stored`](super::Stored) and the calls of judges record replies, [`Priced`](super::Priced) reservations. The recorders
//! themselves belong to the run.

use std::cell::Cell;
use std::sync::Arc;

use super::key::{Hash, Key};
use super::{LanguageModel, LmError, LmReply, LmRequest};

tokio::task_local! {
    static CURRENT: Arc<dyn ReplyRecorder>;
    static SPENDING: Arc<dyn SpendingRecorder>;
    /// Whether the cost of the current call is recorded as spending.
    static IS_SPENDING: Cell<bool>;
}

/// Stores the reservations and costs of calls, so that the budget applies to several processes.
pub trait SpendingRecorder: Send + Sync {
    /// Stores the highest possible cost of a call, in millisatoshis. It counts as spent until it is settled. The number of
    /// the call is returned once the process can die without losing the record.
    ///
    /// # Errors
    /// A message, if the record cannot be stored.
    fn reserve(&self, msats: u64) -> Result<u64, String>;

    /// Stores the cost of the call with this number, in millisatoshis.
    fn settle(&self, call: u64, msats: u64);
}

/// Runs a future within which spending is recorded.
pub fn spending_scope<F: Future>(
    recorder: Arc<dyn SpendingRecorder>,
    future: F,
) -> impl Future<Output = F::Output> {
    SPENDING.scope(recorder, future)
}

/// A recorded call that is not settled.
#[cfg(feature = "lm")]
#[derive(Clone)]
pub(super) struct Reserved {
    recorder: Arc<dyn SpendingRecorder>,
    call: u64,
}

#[cfg(feature = "lm")]
impl Reserved {
    /// Records the cost of the call, in millisatoshis.
    pub(super) fn settle(&self, msats: u64) {
        self.recorder.settle(self.call, msats);
    }
}

/// Records the highest possible cost of a call before it is made, if spending is recorded.
///
/// # Errors
/// A message, if it cannot be recorded.
#[cfg(feature = "lm")]
pub(super) fn reserve(msats: u64) -> Result<Option<Reserved>, String> {
    let Ok(recorder) = SPENDING.try_with(Arc::clone) else { return Ok(None) };
    let call = recorder.reserve(msats)?;
    // It fails where no reply is recorded.
    let _ = IS_SPENDING.try_with(|is_spending| is_spending.set(true));
    Ok(Some(Reserved { recorder, call }))
}

/// Runs a call. Returns its result, and whether its cost was recorded as spending.
pub(super) async fn call<T>(call: impl Future<Output = T>) -> (T, bool) {
    let call = async {
        let result = call.await;
        (result, IS_SPENDING.with(Cell::get))
    };
    IS_SPENDING.scope(Cell::new(false), call).await
}

/// Stores the paid replies of one row.
pub trait ReplyRecorder: Send + Sync {
    /// Returns a reply that an earlier run of the row received, with its cost. Each one is returned once.
    fn find(&self, key: &Hash) -> Option<LmReply>;

    /// Returns whether [`find`](Self::find) has a reply.
    fn has(&self, key: &Hash) -> bool;

    /// Stores a reply, and whether its cost was recorded as spending.
    fn record(&self, key: &Hash, reply: &LmReply, is_spending: bool);

    /// The number of replies recorded under this key.
    fn recorded(&self, key: &Hash) -> usize;
}

/// Runs a future within which replies are recorded.
pub fn scope<F: Future>(
    recorder: Arc<dyn ReplyRecorder>,
    future: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(recorder, future)
}

/// As [`scope`] and [`spending_scope`], of a function.
pub fn scope_sync<T>(
    (replies, spending): (Arc<dyn ReplyRecorder>, Arc<dyn SpendingRecorder>),
    function: impl FnOnce() -> T,
) -> T {
    SPENDING.sync_scope(spending, || CURRENT.sync_scope(replies, function))
}

fn current() -> Option<Arc<dyn ReplyRecorder>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Returns the recorded reply to a request, if there is one.
#[cfg(feature = "lm")]
pub(super) fn find(key: &Key) -> Option<LmReply> {
    current()?.find(&key.hash)
}

/// Records a reply, unless it came from a cache.
#[cfg(feature = "lm")]
pub(super) fn record(key: &Key, reply: &LmReply, is_spending: bool) {
    if let Some(recorder) = current().filter(|_| !reply.cached) {
        recorder.record(&key.hash, reply, is_spending);
    }
}

/// Returns the amounts to reserve from budgets for several requests, without requests whose reply was recorded.
#[cfg(feature = "lm")]
pub fn quotes<'a, 'r>(
    calls: impl Iterator<Item = (&'a dyn LanguageModel, &'r LmRequest)>,
) -> Vec<super::Quote> {
    let quotes = calls.filter_map(|(lm, request)| {
        let quote = lm.quote(request)?;
        let is_recorded = current().is_some_and(|recorder| {
            recorder.has(&Key::new(lm, &lm.effective_request(request)).hash)
        });
        (!is_recorded).then_some(quote)
    });
    quotes.collect()
}

/// Returns the recorded reply, or else calls the model and records its reply, unless a layer of the model has done so.
pub async fn complete(lm: &dyn LanguageModel, request: &LmRequest) -> Result<LmReply, LmError> {
    let Some(recorder) = current() else {
        return lm.complete(request).await;
    };
    let key = Key::new(lm, &lm.effective_request(request)).hash;
    if let Some(reply) = recorder.find(&key) {
        return Ok(reply);
    }
    let before = recorder.recorded(&key);
    let (reply, is_spending) = call(lm.complete(request)).await;
    let reply = reply?;
    if !reply.cached && recorder.recorded(&key) == before {
        recorder.record(&key, &reply, is_spending);
    }
    Ok(reply)
}
