//! The layer that returns stored replies and stores new ones.

use super::super::cache::{CacheMode, ReplyCache, now_micros};
use super::super::key::Key;
use super::super::recording;
use super::super::{LanguageModel, LmError, LmReply, LmRequest, Usage};
use super::Layer;
use super::panel_reservation::Quote;
use super::single_flight::{Flight, SingleFlight};

/// A model whose replies are cached on disk, so that no call is paid for twice.
///
/// A reply is stored if the model completed it, also if a judge cannot parse it: a resumed run then
/// repeats the same repair without paying for it again ([`CacheMode::Refresh`] makes the call
/// again). Errors are not stored, nor are replies without an answer: truncated, filtered, refused,
/// or empty. The next run makes these calls again.
///
/// Equal concurrent calls are one call; the others wait and receive its reply or its error. If that
/// call is dropped before it returns, one of the waiting calls is made instead.
///
/// ```
/// use dsrs_metrics::lm::{CacheMode, Cached, LanguageModel, LmRequest, ReplyCache, ScriptedLm};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dir = std::env::temp_dir().join(format!("dsrs-doc-cache-{}", std::process::id()));
/// let cache = ReplyCache::open(&dir, 1 << 30)?;
/// let scripted = ScriptedLm::new().replies(["only once"]);
/// let lm = Cached::new(&scripted, cache, CacheMode::Use);
/// let request = LmRequest::new("example").user("?");
/// assert!(!lm.complete(&request).await?.cached);
/// let again = lm.complete(&request).await?;
/// assert_eq!((again.text.as_str(), again.cached, scripted.calls()), ("only once", true, 1));
/// # drop(lm);
/// # std::fs::remove_dir_all(dir)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Cached<L> {
    inner: L,
    cache: ReplyCache,
    mode: CacheMode,
    /// Older replies are ignored; in microseconds since 1970.
    min_stored: u64,
    in_progress: SingleFlight,
}

impl<L> Cached<L> {
    /// Caches the replies of `inner` in `cache`.
    ///
    /// ```
    /// use dsrs_metrics::lm::{CacheMode, Cached, LanguageModel, LmRequest, ScriptedLm};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-cached-new-{}", std::process::id()));
    /// # let cache = dsrs_metrics::lm::ReplyCache::open(&dir, 1 << 30)?;
    /// let request = LmRequest::new("example").user("?");
    /// let old = Cached::new(ScriptedLm::new().otherwise("old"), cache.clone(), CacheMode::Use);
    /// old.complete(&request).await?;
    /// let new = Cached::new(ScriptedLm::new().otherwise("new"), cache.clone(), CacheMode::Refresh);
    /// assert_eq!(new.complete(&request).await?.text, "new");
    /// assert_eq!(old.complete(&request).await?.text, "new", "the stored reply was replaced");
    /// # drop((old, new, cache));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(inner: L, cache: ReplyCache, mode: CacheMode) -> Self {
        let min_stored = if mode == CacheMode::Refresh { now_micros() } else { 0 };
        Self { inner, cache, mode, min_stored, in_progress: SingleFlight::default() }
    }
}

impl<L: LanguageModel> Cached<L> {
    /// The stored reply, or else the reply of the inner model, which is stored.
    async fn get_or_call(&self, key: &Key, request: &LmRequest) -> Result<LmReply, LmError> {
        if let Some(reply) = self.cache.get(key, self.min_stored)? {
            return Ok(reply.into_cached());
        }
        // Another model of the process with the same cache may make the same call, such as in another test.
        match self.cache.in_progress().run(key.hash, self.call(key, request)).await {
            Flight::Own(result) => result,
            Flight::Shared(Ok(reply)) => Ok(reply.into_cached()),
            // It may have failed by a setting of its own, such as its budget.
            Flight::Shared(Err(_)) => self.call(key, request).await,
        }
    }

    /// Calls the inner model, and stores its reply.
    async fn call(&self, key: &Key, request: &LmRequest) -> Result<LmReply, LmError> {
        // It may have been stored since.
        if let Some(reply) = self.cache.get(key, self.min_stored)? {
            return Ok(reply.into_cached());
        }
        let (reply, is_spending) = recording::call(self.inner.complete(request)).await;
        let reply = reply?;
        // Before it is in the cache, where the next run would find it without its cost.
        recording::record(key, &reply, is_spending);
        if !has_answer(&reply) {
            return Ok(reply);
        }
        match self.cache.put(key, &reply).await {
            Ok(()) => Ok(reply),
            Err(error) => {
                let cost = reply.cost_msats.filter(|_| !reply.cost_is_lower_bound);
                Err(error.with_cost_msats(cost))
            }
        }
    }
}

impl<L: LanguageModel> Layer for Cached<L> {
    fn inner(&self) -> &dyn LanguageModel {
        &self.inner
    }

    fn quote(&self, request: &LmRequest) -> Option<Quote> {
        let quote = self.inner.quote(request)?;
        let request = self.inner.effective_request(request);
        let is_stored = self.mode != CacheMode::Off
            && self
                .cache
                .get(&Key::new(&self.inner, &request), self.min_stored)
                .is_ok_and(|reply| reply.is_some());
        (!is_stored).then_some(quote)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        if self.mode == CacheMode::Off {
            return recording::complete(&self.inner, request).await;
        }
        let request = self.inner.effective_request(request);
        let key = Key::new(&self.inner, &request);
        if let Some(reply) = recording::find(&key) {
            return Ok(reply);
        }
        // The cost of a shared call is counted once, by the task that makes the call.
        match self.in_progress.run(key.hash, self.get_or_call(&key, &request)).await {
            Flight::Own(result) => result,
            Flight::Shared(Ok(reply)) => Ok(reply.into_cached()),
            Flight::Shared(Err(error)) => {
                Err(error.with_usage(Usage::default()).with_cost_msats(Some(0)))
            }
        }
    }
}

/// Whether the model completed a reply that is not empty.
fn has_answer(reply: &LmReply) -> bool {
    reply.stop_reason.is_complete() && !reply.text.trim().is_empty()
}
