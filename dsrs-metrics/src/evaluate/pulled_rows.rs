//! Rows that workers have pulled and not yet evaluated.
//!
//! Where rows take less time than waiting for the source, a worker pulls several at once. The others may take them once
//! the source has no more, so that no row waits for a worker whose thread is blocked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::source::{Numbered, lock};

/// The rows that one worker has pulled.
pub(super) type OwnRows<G, P> = Arc<Mutex<VecDeque<Numbered<G, P>>>>;

/// The rows that all workers of a run have pulled.
pub(super) struct PulledRows<G, P>(Mutex<Vec<OwnRows<G, P>>>);

impl<G, P> Default for PulledRows<G, P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<G, P> PulledRows<G, P> {
    /// Returns the rows of a new worker.
    pub(super) fn add_worker(&self) -> OwnRows<G, P> {
        let own = OwnRows::default();
        lock(&self.0).push(Arc::clone(&own));
        own
    }

    /// Takes a row of any worker.
    pub(super) fn take(&self) -> Option<Numbered<G, P>> {
        lock(&self.0).iter().find_map(|rows| lock(rows).pop_front())
    }
}
