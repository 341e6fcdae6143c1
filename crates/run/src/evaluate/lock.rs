//! Locking a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread panicked while holding it.
pub(crate) fn lock<S>(value: &Mutex<S>) -> MutexGuard<'_, S> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
