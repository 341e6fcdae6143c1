//! Replies that a journal records while a row is evaluated, and returns when the row is evaluated again.
//!
//! [`Cached`](super::Cached) and the calls of judges use it. The recorder itself belongs to the run of the row.

use std::sync::Arc;

use super::key::{Hash, Key};
use super::{LanguageModel, LmError, LmReply, LmRequest};

tokio::task_local! {
    static CURRENT: Arc<dyn ReplyRecorder>;
}

/// Stores the paid replies of one row.
pub(crate) trait ReplyRecorder: Send + Sync {
    /// Returns a reply that an earlier run of the row received, with its cost. Each one is returned once.
    fn find(&self, key: &Hash) -> Option<LmReply>;

    /// Stores a reply.
    fn record(&self, key: &Hash, reply: &LmReply);

    /// The number of replies recorded under this key.
    fn recorded(&self, key: &Hash) -> usize;
}

/// Runs a future within which replies are recorded.
pub(crate) fn scope<F: Future>(
    recorder: Arc<dyn ReplyRecorder>,
    future: F,
) -> impl Future<Output = F::Output> {
    CURRENT.scope(recorder, future)
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
pub(super) fn record(key: &Key, reply: &LmReply) {
    if let Some(recorder) = current().filter(|_| !reply.cached) {
        recorder.record(&key.hash, reply);
    }
}

/// Returns the recorded reply, or else calls the model and records its reply, unless a layer of the model has done so.
pub(crate) async fn complete(
    lm: &dyn LanguageModel,
    request: &LmRequest,
) -> Result<LmReply, LmError> {
    let Some(recorder) = current() else {
        return lm.complete(request).await;
    };
    let key = Key::new(lm, &lm.effective_request(request)).hash;
    if let Some(reply) = recorder.find(&key) {
        return Ok(reply);
    }
    let before = recorder.recorded(&key);
    let reply = lm.complete(request).await?;
    if !reply.cached && recorder.recorded(&key) == before {
        recorder.record(&key, &reply);
    }
    Ok(reply)
}
