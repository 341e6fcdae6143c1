//! What all threads and tasks of a run share: locks, and the stop state.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn lock<S>(value: &Mutex<S>) -> MutexGuard<'_, S> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a run is stopped. The level never decreases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
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
    fn raise(&self, to: Level) {
        self.0.send_if_modified(|level| {
            let is_higher = to > *level;
            *level = to.max(*level);
            is_higher
        });
    }

    fn is_at(&self, level: Level) -> bool {
        *self.0.borrow() >= level
    }

    async fn reached(&self, level: Level) {
        // The sender lives as long as the stop.
        let _ = self.0.subscribe().wait_for(|it| *it >= level).await;
    }

    /// Stops taking rows. Rows in progress are finished.
    pub(crate) fn set(&self) {
        self.raise(Level::Stopped);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_at(Level::Stopped)
    }

    /// Waits until no more rows are taken.
    pub(crate) async fn wait(&self) {
        self.reached(Level::Stopped).await;
    }

    /// Like [`set`](Self::set), but requested by the user.
    pub(crate) fn request(&self) {
        self.raise(Level::Requested);
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.is_at(Level::Requested)
    }

    /// Waits until a stop is requested.
    pub(crate) async fn requested(&self) {
        self.reached(Level::Requested).await;
    }

    /// Abandons the rows in progress.
    pub(crate) fn abandon(&self) {
        self.raise(Level::Abandoned);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_at(Level::Abandoned)
    }

    /// Waits until the rows in progress are abandoned.
    pub(crate) async fn abandoned(&self) {
        self.reached(Level::Abandoned).await;
    }

    /// Ends the run without waiting for abandoned rows that cannot be cancelled.
    pub(crate) fn give_up(&self) {
        self.raise(Level::GivenUp);
    }

    /// Returns `true` if rows that cannot be cancelled may still be in progress.
    #[cfg(feature = "ctrl-c")]
    pub(crate) fn has_given_up(&self) -> bool {
        self.is_at(Level::GivenUp)
    }

    /// Waits until the run gives up on rows that cannot be cancelled.
    pub(crate) async fn given_up(&self) {
        self.reached(Level::GivenUp).await;
    }
}
