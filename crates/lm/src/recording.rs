//! A run's store, which judge calls use while a row is evaluated.
//!
//! A model with its own store, such as [`Lm`](super::Lm), uses its own. Replies from all other models are kept here.
//! Replies from both are counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "store")]
use super::LmErrorKind;
#[cfg(feature = "store")]
use super::Stored;
use super::record::Hash;
use super::store::Store;
use super::{LanguageModel, LmError, LmReply, LmRequest};

tokio::task_local! {
    static CURRENT: Scope;
}

/// A scope that stores the results of a run or a row, such as model replies.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "store"), allow(dead_code, reason = "there is none"))]
pub struct Scope {
    store: Store,
    /// Records with this number or a lower one are ignored.
    after: i64,
    /// The number of results that were found, and of those that were paid for.
    counts: Arc<[AtomicU64; 2]>,
    /// The first error that prevents storing, shared by all rows of the run.
    error: Arc<OnceLock<LmError>>,
}

impl Scope {
    /// Creates a scope for a run.
    ///
    /// Records with a number up to `after` are ignored.
    pub fn new(store: Store, after: i64) -> Self {
        Self {
            store,
            after,
            counts: Arc::default(),
            error: Arc::default(),
        }
    }

    /// Returns a scope for one row, with its own counts.
    pub fn of_row(&self) -> Self {
        Self {
            counts: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the error that prevents results from being stored, if any.
    pub fn error(&self) -> Option<LmError> {
        self.error.get().cloned()
    }

    /// Records an error that prevents more results from being stored.
    pub fn fail(&self, error: LmError) {
        // Only the first error is reported.
        let _ = self.error.set(error);
    }

    /// Returns a stored result, if there is one.
    ///
    /// Returns `None` if the result cannot be read as a `T`. The caller must then compute it again.
    pub fn find<T: DeserializeOwned>(&self, key: &Hash) -> Option<T> {
        let found = self.store.find(key, self.after).unwrap_or_else(|error| {
            self.fail(error);
            None
        });
        found.and_then(|result| serde_json::from_str(&result).ok())
    }

    /// Stores a result.
    ///
    /// The method returns once the result is written.
    pub fn keep(
        &self,
        kind: &str,
        (key, about): (&Hash, &str),
        result: &impl Serialize,
        cost_msats: Option<u64>,
    ) {
        // A result that cannot be written as JSON is computed again.
        let Ok(result) = serde_json::to_string(result) else {
            return;
        };
        if let Err(error) = self.store.put(kind, (key, about), &result, cost_msats) {
            self.fail(error);
        }
    }

    /// Runs a future within this scope.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self.clone(), future)
    }

    /// Counts a result as found in the store or as paid for.
    pub fn count(&self, is_found: bool) {
        let [found, paid] = &*self.counts;
        (if is_found { found } else { paid }).fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of results found in the store, and the number of results paid for.
    pub fn counted(&self) -> (u64, u64) {
        let [found, paid] = &*self.counts;
        (found.load(Ordering::Relaxed), paid.load(Ordering::Relaxed))
    }
}

/// Counts a reply in the row's scope, if there is one, or records that the store failed.
#[cfg(feature = "store")]
pub(super) fn note(reply: &Result<LmReply, LmError>) {
    let note = |scope: &Scope| match reply {
        Ok(reply) => scope.count(reply.cached),
        Err(error) if matches!(error.kind(), LmErrorKind::Store { .. }) => {
            scope.fail(error.clone());
        }
        Err(_) => {}
    };
    // This fails outside of a scope.
    let _ = CURRENT.try_with(note);
}

/// Returns the model with the store of the scope, unless there is none or the model keeps its replies itself.
#[cfg(feature = "store")]
fn stored(lm: &dyn LanguageModel) -> Option<Stored<&dyn LanguageModel>> {
    let scope = CURRENT.try_with(Clone::clone).ok();
    let Scope { store, after, .. } = scope.filter(|_| !lm.keeps_replies())?;
    Some(Stored::after(lm, store, after))
}

/// Returns the amounts to reserve from budgets for the given requests.
///
/// Requests with a stored reply are left out.
#[cfg(feature = "lm")]
pub fn quotes<'a, 'r>(
    calls: impl Iterator<Item = (&'a dyn LanguageModel, &'r LmRequest)>,
) -> Vec<super::Quote> {
    let quote = |(lm, request): (&dyn LanguageModel, &LmRequest)| match stored(lm) {
        Some(stored) => stored.quote(request),
        None => lm.quote(request),
    };
    calls.filter_map(quote).collect()
}

/// Returns the stored reply, or calls the model if there is none.
///
/// The function stores a new reply, unless the model stores replies itself.
pub async fn complete(lm: &dyn LanguageModel, request: &LmRequest) -> Result<LmReply, LmError> {
    #[cfg(feature = "store")]
    if let Some(stored) = stored(lm) {
        return stored.complete(request).await;
    }
    lm.complete(request).await
}
