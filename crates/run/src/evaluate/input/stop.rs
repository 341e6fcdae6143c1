//! The stop flag shared by all threads and tasks: once it is set, no more rows are taken.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Stop {
    set: AtomicBool,
    /// Whether the stop was requested from outside the run.
    requested: AtomicBool,
    changed: Notify,
    stop_requested: Notify,
    abandoned: Notify,
    given_up: Notify,
    is_abandoned: AtomicBool,
    has_given_up: AtomicBool,
}

/// The effect of a Ctrl-C.
#[cfg(feature = "ctrl-c")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// No more rows are taken, and those in progress are finished.
    Finish,
    /// The rows in progress are abandoned.
    Abandon,
    /// The process ends at once.
    Exit,
}

impl Stop {
    /// Sets the flag: rows in progress are finished, and no other row is taken.
    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::SeqCst)
    }

    /// As [`set`](Self::set), on the user's request.
    pub(crate) fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
        self.set();
        self.stop_requested.notify_one();
    }

    /// Waits until a stop was requested. Only one task may wait, and is notified once.
    pub(crate) async fn requested(&self) {
        self.stop_requested.notified().await;
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
    }

    /// Returns the effect of the next Ctrl-C.
    #[cfg(feature = "ctrl-c")]
    pub(crate) fn next_interrupt(&self) -> Interrupt {
        match (self.is_requested(), self.is_abandoned()) {
            (false, _) => Interrupt::Finish,
            (true, false) => Interrupt::Abandon,
            (true, true) => Interrupt::Exit,
        }
    }

    /// Handles one Ctrl-C: the first requests a stop, a later one abandons the rows in progress.
    #[cfg(feature = "ctrl-c")]
    pub(crate) fn interrupt(&self) {
        if self.is_requested() {
            self.abandon();
        } else {
            self.request();
        }
    }

    /// Abandons the rows in progress.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        self.abandoned.notify_one();
    }

    /// Whether the rows in progress were abandoned.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::SeqCst)
    }

    /// Waits until the rows in progress are to be abandoned.
    pub(crate) async fn abandoned(&self) {
        self.abandoned.notified().await;
    }

    /// Ends the run without abandoned rows that cannot be cancelled.
    pub(crate) fn give_up(&self) {
        self.has_given_up.store(true, Ordering::SeqCst);
        self.given_up.notify_one();
    }

    /// Whether rows that cannot be cancelled may still be in progress.
    #[cfg(feature = "ctrl-c")]
    pub(crate) fn has_given_up(&self) -> bool {
        self.has_given_up.load(Ordering::SeqCst)
    }

    /// Waits until the run is to end without the rows that cannot be cancelled.
    pub(crate) async fn given_up(&self) {
        self.given_up.notified().await;
    }

    /// Waits until the flag is set.
    pub(crate) async fn wait(&self) {
        let mut changed = std::pin::pin!(self.changed.notified());
        // Registers before reading the flag, so that no notification is missed in between.
        changed.as_mut().enable();
        if !self.is_set() {
            changed.await;
        }
    }
}
