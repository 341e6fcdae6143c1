//! The layer that returns stored replies and stores new ones. Equal concurrent calls become one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use tokio::sync::OnceCell;

use crate::record::{Hash, Key};
use crate::store::Store;
use crate::{LanguageModel, LmError, LmReply, LmRequest, StopReason, Usage, lock, recording};

use super::super::model::layer_over_inner;
#[cfg(feature = "lm")]
use super::budget::Quote;

/// A model that keeps its replies in a store, so you never pay twice for the same call.
///
/// A complete reply is stored even if a judge cannot parse it. To repeat the call anyway, use
/// [`refresh`](Self::refresh).
///
/// A reply that was truncated, filtered, refused or empty is stored if the provider charged for it. Errors are not
/// stored, so the next run repeats the failed calls.
///
/// If several identical calls run at the same time, the model makes only one of them. The others wait for its reply or
/// error. If that call is dropped, the model makes one of the waiting calls instead.
///
/// ```
/// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm, Store, Stored};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-stored-{}", std::process::id()));
/// let scripted = ScriptedLm::new().replies(["only once"]);
/// let lm = Stored::new(&scripted, Store::open(&dir)?);
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
pub struct Stored<L> {
    inner: L,
    store: Store,
    /// Records with this number or a lower one are ignored.
    after: i64,
}

impl<L> Stored<L> {
    /// Wraps `inner` and keeps its replies in `store`.
    pub fn new(inner: L, store: Store) -> Self {
        Self::after(inner, store, 0)
    }

    /// Works like [`new`](Self::new), but ignores records up to this number.
    pub(crate) fn after(inner: L, store: Store, after: i64) -> Self {
        Self {
            inner,
            store,
            after,
        }
    }

    /// Makes the model repeat stored calls and replace their replies.
    ///
    /// Later identical calls in the same run get the new reply.
    ///
    /// ```
    /// use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm, Store, Stored};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-refresh-{}", std::process::id()));
    /// # let store = Store::open(&dir)?;
    /// let request = LmRequest::new("example").user("?");
    /// let old = Stored::new(ScriptedLm::new().otherwise("old"), store.clone());
    /// old.complete(&request).await?;
    /// let new = Stored::new(ScriptedLm::new().otherwise("new"), store.clone()).refresh()?;
    /// assert_eq!(new.complete(&request).await?.text, "new");
    /// assert_eq!(old.complete(&request).await?.text, "new", "the stored reply was replaced");
    /// # drop((old, new, store));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`](super::super::LmErrorKind::Store) if the store cannot be read.
    pub fn refresh(mut self) -> Result<Self, LmError> {
        self.after = self.store.last_number()?;
        Ok(self)
    }
}

impl<L: LanguageModel> Stored<L> {
    /// Returns the stored reply. If a budget truncated it, only a call under a budget gets it.
    #[cfg_attr(not(feature = "lm"), expect(unused_variables))]
    fn find(&self, key: &Key, request: &LmRequest) -> Result<Option<LmReply>, LmError> {
        let reply = find(&self.store, key, self.after)?;
        #[cfg(feature = "lm")]
        let reply =
            reply.filter(|it| !it.is_truncated_by_budget || self.inner.quote(request).is_some());
        Ok(reply)
    }

    /// Returns the stored reply, or calls the inner model and stores its reply.
    async fn call(&self, key: &Key, request: &LmRequest) -> Result<LmReply, LmError> {
        if let Some(reply) = self.find(key, request)? {
            return Ok(reply.into_cached());
        }
        self.store.check_writable()?;
        let reply = self.inner.complete(request).await?;
        // Whatever was paid for is kept, even a truncated reply.
        let is_complete = matches!(reply.stop_reason, StopReason::End | StopReason::Other(_));
        let has_answer = is_complete && !reply.text.trim().is_empty();
        if !has_answer && reply.cost_msats.is_none_or(|cost| cost == 0) {
            return Ok(reply);
        }
        match put(&self.store, key, &reply).await {
            Ok(()) => Ok(reply),
            Err(error) => {
                let cost = reply.cost_msats.filter(|_| !reply.cost_is_lower_bound);
                Err(error.with_cost_msats(cost))
            }
        }
    }
}

#[async_trait]
impl<L: LanguageModel> LanguageModel for Stored<L> {
    layer_over_inner!();

    fn keeps_replies(&self) -> bool {
        true
    }

    #[cfg(feature = "lm")]
    fn quote(&self, request: &LmRequest) -> Option<Quote> {
        let quote = self.inner.quote(request)?;
        let request = self.inner.effective_request(request);
        let stored = self.find(&Key::new(&self.inner, &request), &request);
        let is_stored = stored.is_ok_and(|reply| reply.is_some());
        (!is_stored).then_some(quote)
    }

    async fn complete(&self, request: &LmRequest) -> Result<LmReply, LmError> {
        let request = self.inner.effective_request(request);
        let key = Key::new(&self.inner, &request);
        let maker = std::ptr::from_ref(self).addr();
        let in_progress = self.store.in_progress();
        let call = || self.call(&key, &request);
        let (reply, _) = in_progress.run(key.hash, maker, call).await;
        recording::note(&reply);
        reply
    }
}

/// Returns the stored reply, unless its record number is at most `after`.
pub(crate) fn find(store: &Store, key: &Key, after: i64) -> Result<Option<LmReply>, LmError> {
    let found = store.find(&key.hash, after)?;
    Ok(found.and_then(|result| serde_json::from_str(&result).ok()))
}

/// Stores a reply, and returns once it is written.
async fn put(store: &Store, key: &Key, reply: &LmReply) -> Result<(), LmError> {
    let (kept, key, reply) = (store.clone(), key.clone(), reply.clone());
    // This may wait for another process.
    let written = tokio::task::spawn_blocking(move || {
        let result = serde_json::to_string(&reply).map_err(|error| kept.error(&error))?;
        let cost_msats = reply.cost_msats.filter(|_| !reply.cost_is_lower_bound);
        kept.put("reply", (&key.hash, &key.text), &result, cost_msats)
    });
    let written = written.await;
    written.unwrap_or_else(|error| Err(store.error(&error)))
}

type CallResult = Result<LmReply, LmError>;

/// The calls in progress, by the hash of their key.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight {
    calls: Mutex<Calls>,
}

/// Each call is kept alive by the tasks that take part in it.
type Calls = HashMap<Hash, Weak<SharedCall>>;

/// A call that equal calls wait for, and the model that made it. If the task that makes it is dropped, a waiting one
/// makes it.
type SharedCall = OnceCell<(CallResult, usize)>;

impl SingleFlight {
    /// Makes `call`, or waits for the result of a call in progress with the same hash. If the call in progress is
    /// dropped, or fails for a reason specific to another `maker`, such as its budget, a waiting call is made instead.
    /// Returns `true` only for the call that was made, because the others cost nothing.
    pub(crate) async fn run<F: Future<Output = CallResult>>(
        &self,
        hash: Hash,
        maker: usize,
        call: impl Fn() -> F,
    ) -> (CallResult, bool) {
        loop {
            let shared = self.enter(hash);
            let mut is_own = false;
            let made = shared.get_or_init(async || {
                is_own = true;
                (call().await, maker)
            });
            let (result, by) = made.await.clone();
            if is_own {
                // Later calls are made again or find the reply in the store.
                lock(&self.calls).remove(&hash);
                return (result, true);
            }
            match result {
                Ok(reply) => return (Ok(reply.into_cached()), false),
                Err(error) if by == maker => {
                    let free = error.with_usage(Usage::default()).with_cost_msats(Some(0));
                    return (Err(free), false);
                }
                Err(_) => {}
            }
        }
    }

    fn enter(&self, hash: Hash) -> Arc<SharedCall> {
        let mut calls = lock(&self.calls);
        if let Some(shared) = calls.get(&hash).and_then(Weak::upgrade) {
            return shared;
        }
        // All tasks of these calls were dropped.
        calls.retain(|_, call| call.strong_count() > 0);
        let shared = Arc::default();
        calls.insert(hash, Arc::downgrade(&shared));
        shared
    }
}
