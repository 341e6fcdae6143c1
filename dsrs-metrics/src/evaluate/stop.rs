//! The sign, shared by all workers, to take no more rows.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Stop {
    set: AtomicBool,
    changed: Notify,
}

impl Stop {
    /// Rows that are being worked on are finished; no other is taken.
    pub(super) fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(super) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    pub(super) async fn wait(&self) {
        let mut changed = std::pin::pin!(self.changed.notified());
        // Listening begins before looking, so that nothing is missed in between.
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}
