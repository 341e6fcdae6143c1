//! What the attempts at one call have been charged so far: told by the layer that prices them, heard by the one that counts
//! calls, in case the call is dropped before its end and nobody else can say it any more.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

tokio::task_local! {
    static CURRENT: Arc<Charges>;
}

/// Charges of one call; clones share them.
#[derive(Debug, Default)]
pub(super) struct Charges {
    msats: AtomicU64,
    is_unknown: AtomicBool,
}

impl Charges {
    /// Hears what is told while `call` runs, also while it is dropped.
    pub(super) async fn hear<T>(self: &Arc<Self>, call: impl Future<Output = T>) -> T {
        CURRENT.scope(Arc::clone(self), call).await
    }

    /// All that was told, in msat.
    pub(super) fn msats(&self) -> u64 {
        self.msats.load(Ordering::Relaxed)
    }

    /// Whether nothing says what one of the attempts was charged.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_unknown.load(Ordering::Relaxed)
    }
}

/// Tells what an attempt was charged; `None` if nothing says.
#[cfg(feature = "lm")]
pub(super) fn tell(msats: Option<u64>) {
    // Where nobody counts, nobody hears.
    let _ = CURRENT.try_with(|charges| match msats {
        Some(msats) => {
            charges.msats.fetch_add(msats, Ordering::Relaxed);
        }
        None => charges.is_unknown.store(true, Ordering::Relaxed),
    });
}
