//! The sign, shared by all workers, to take no more rows.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(super) struct Stop {
    set: AtomicBool,
    /// Whether it was set from outside of the run.
    asked: AtomicBool,
    changed: Notify,
    abandoned: Notify,
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

    /// As [`set`](Self::set), because the user wants it.
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.set();
    }

    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// A Ctrl-C: it stops the run, or abandons one that was asked to stop before.
    #[cfg(feature = "ctrl-c")]
    pub(super) fn interrupt(&self) {
        if self.asked() {
            self.abandoned.notify_one();
        } else {
            self.ask();
        }
    }

    /// Waits until rows that are being worked on are to be given up.
    pub(super) async fn abandoned(&self) {
        self.abandoned.notified().await;
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
