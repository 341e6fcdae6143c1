//! Request coalescing: equal concurrent calls become one call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::super::private::lock;
use super::super::record::Hash;
use super::super::{LmError, LmReply};

type CallResult = Result<LmReply, LmError>;

/// The calls in progress, by the hash of their key.
#[derive(Debug, Default)]
pub(crate) struct SingleFlight {
    calls: Mutex<Calls>,
}

type Calls = HashMap<Hash, Arc<SharedCall>>;

/// A call that equal calls wait for. The first task locks the mutex and makes the call; the others find the result in
/// it.
type SharedCall = tokio::sync::Mutex<Option<CallResult>>;

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
        let entry = self.enter(hash);
        let mut result = entry.call.lock().await;
        if let Some(result) = &*result {
            return Flight::Shared(result.clone());
        }
        let own = call.await;
        *result = Some(own.clone());
        entry.close();
        Flight::Own(own)
    }

    fn enter(&self, hash: Hash) -> Entry<'_> {
        let call = Arc::clone(lock(&self.calls).entry(hash).or_default());
        Entry {
            calls: self,
            hash,
            call,
        }
    }
}

/// A participant in a shared call. The last one to leave removes it.
struct Entry<'a> {
    calls: &'a SingleFlight,
    hash: Hash,
    call: Arc<SharedCall>,
}

impl Entry<'_> {
    /// Removes the call. Later calls are made again or find the reply in the store.
    fn close(&self) {
        self.remove_from(&mut lock(&self.calls.calls));
    }

    fn remove_from(&self, calls: &mut Calls) {
        if calls
            .get(&self.hash)
            .is_some_and(|call| Arc::ptr_eq(call, &self.call))
        {
            calls.remove(&self.hash);
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let mut calls = lock(&self.calls.calls);
        // One reference in the map and one in this entry: no other call waits.
        if Arc::strong_count(&self.call) <= 2 {
            self.remove_from(&mut calls);
        }
    }
}
