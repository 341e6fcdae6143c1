//! Locking a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also if a thread panicked while it had the lock.
pub(crate) fn lock<S>(value: &Mutex<S>) -> MutexGuard<'_, S> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
