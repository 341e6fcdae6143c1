//! Task-local accumulator of costs, so that the attempts of a call are counted, also of one that is cancelled.
//!
//! [`Priced`](super::Priced) adds the cost of each attempt. [`Metered`](super::Metered) reads the number of attempts of
//! unknown cost, and the sum if the call is dropped before it returns.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

tokio::task_local! {
    static CURRENT: Arc<CostScope>;
}

/// The cost of the attempts of one call.
#[derive(Debug, Default)]
pub(super) struct CostScope {
    msats: AtomicU64,
    unknown: AtomicU64,
}

impl CostScope {
    /// Runs `call`; [`add_cost`] within it, also while it is dropped, adds to this scope.
    pub(super) fn scope<T>(
        self: &Arc<Self>,
        call: impl Future<Output = T>,
    ) -> impl Future<Output = T> {
        CURRENT.scope(Arc::clone(self), call)
    }

    /// The known cost of all attempts, in msat.
    pub(super) fn msats(&self) -> u64 {
        self.msats.load(Ordering::Relaxed)
    }

    /// The number of attempts of unknown cost.
    pub(super) fn unknown(&self) -> u64 {
        self.unknown.load(Ordering::Relaxed)
    }
}

/// Adds the cost of an attempt in msat, `None` if it is unknown, to the current scope, if there is
/// one.
#[cfg(feature = "lm")]
pub(super) fn add_cost(msats: Option<u64>) {
    let add = |scope: &Arc<CostScope>| match msats {
        Some(msats) => scope.msats.fetch_add(msats, Ordering::Relaxed),
        None => scope.unknown.fetch_add(1, Ordering::Relaxed),
    };
    // It fails where no scope is active: nothing records the call.
    let _ = CURRENT.try_with(add);
}
