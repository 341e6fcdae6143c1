//! What all threads and tasks of a run share: locks, and the stop state.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn lock<S>(value: &Mutex<S>) -> MutexGuard<'_, S> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a run is stopped. The level never decreases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    Running,
    /// Rows in progress can finish, but no more are started.
    Stopped,
    /// Like `Stopped`, but requested from outside the run.
    Requested,
    /// The rows in progress are abandoned.
    Abandoned,
    /// The run ends without waiting for abandoned rows that cannot be cancelled.
    GivenUp,
}

/// Stops a run.
#[derive(Default)]
pub(crate) struct Stop(watch::Sender<Level>);

impl Stop {
    pub(crate) fn raise(&self, to: Level) {
        self.0.send_if_modified(|level| {
            let is_higher = to > *level;
            *level = to.max(*level);
            is_higher
        });
    }

    pub(crate) fn is_at(&self, level: Level) -> bool {
        *self.0.borrow() >= level
    }

    /// Waits until the run is stopped as far as this.
    pub(crate) async fn reached(&self, level: Level) {
        // The sender lives as long as the stop.
        let _ = self.0.subscribe().wait_for(|it| *it >= level).await;
    }
}
