//! Request coalescing: equal concurrent calls become one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::OnceCell;

use super::super::private::lock;
use super::super::record::Hash;
use super::super::{LmError, LmReply};

type CallResult = Result<LmReply, LmError>;

/// The calls in progress, by the hash of their key.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight {
    calls: Mutex<Calls>,
}

/// Each is kept by the tasks that take part in it.
type Calls = HashMap<Hash, Weak<SharedCall>>;

/// A call that equal calls wait for. If the task that makes it is dropped, a waiting one makes it.
type SharedCall = OnceCell<CallResult>;

/// The result of [`SingleFlight::run`].
pub(crate) enum Flight {
    /// The result of making this call.
    Own(CallResult),
    /// The result of an identical concurrent call.
    Shared(CallResult),
}

impl SingleFlight {
    /// Makes `call`, or waits for the result of a call in progress with the same hash. If that one is dropped, a
    /// waiting call is made instead.
    pub(crate) async fn run(&self, hash: Hash, call: impl Future<Output = CallResult>) -> Flight {
        let shared = self.enter(hash);
        let mut is_own = false;
        let made = shared.get_or_init(|| {
            is_own = true;
            call
        });
        let result = made.await.clone();
        if !is_own {
            return Flight::Shared(result);
        }
        // Later calls are made again or find the reply in the store.
        lock(&self.calls).remove(&hash);
        Flight::Own(result)
    }

    fn enter(&self, hash: Hash) -> Arc<SharedCall> {
        let mut calls = lock(&self.calls);
        if let Some(shared) = calls.get(&hash).and_then(Weak::upgrade) {
            return shared;
        }
        // All tasks of these calls were dropped.
        calls.retain(|_, call| call.strong_count() > 0);
        let shared = Arc::default();
        calls.insert(hash, Arc::downgrade(&shared));
        shared
    }
}
