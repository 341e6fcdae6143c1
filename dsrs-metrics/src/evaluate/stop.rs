//! The stop flag shared by all workers: once it is set, no more rows are taken.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Stop {
    set: AtomicBool,
    /// Whether the stop was requested from outside the run.
    requested: AtomicBool,
    changed: Notify,
    abandoned: Notify,
}

impl Stop {
    /// Sets the flag: rows in progress are finished, and no other row is taken.
    pub(super) fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(super) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    /// As [`set`](Self::set), on the user's request.
    pub(super) fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
        self.set();
    }

    pub(super) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Handles one Ctrl-C: the first requests a stop, a later one abandons the rows in progress.
    #[cfg(feature = "ctrl-c")]
    pub(super) fn interrupt(&self) {
        if self.is_requested() {
            self.abandoned.notify_one();
        } else {
            self.request();
        }
    }

    /// Waits until the rows in progress are to be abandoned.
    pub(super) async fn abandoned(&self) {
        self.abandoned.notified().await;
    }

    /// Waits until the flag is set.
    pub(super) async fn wait(&self) {
        let mut changed = std::pin::pin!(self.changed.notified());
        // Registers before reading the flag, so that no notification is missed in between.
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}
