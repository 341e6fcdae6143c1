//! Per-row memoization: a metric that is used in several places of a run is evaluated once per row, and all places get
//! that answer.
//!
//! Which metrics are the same is decided in `key.rs`, and `metric/shared_answer.rs` evaluates them. A run without equal metrics has no memo and pays nothing.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::dedup::key::Key;
use crate::score::error::Result;
use crate::score::outcome::RowAnswer;

/// The keys that occur more than once among the metrics of a run and their components.
#[derive(Debug, Clone)]
pub struct Sharing(Arc<[Key]>);

impl Sharing {
    /// Returns the keys that occur more than once, or `None` if there are none.
    pub fn among(all: &[Key]) -> Option<Self> {
        let mut shared: Vec<Key> = Vec::new();
        for (position, key) in all.iter().enumerate() {
            if all[..position].contains(key) && !shared.contains(key) {
                shared.push(key.clone());
            }
        }
        (!shared.is_empty()).then(|| Self(shared.into()))
    }

    /// Creates a memo for one call.
    #[cold]
    pub fn memo(&self, of: Address) -> Memo {
        let answers = self.0.iter().map(|_| OnceCell::new()).collect();
        Memo {
            shared: Arc::clone(&self.0),
            answers,
            of,
        }
    }
}

/// The answers of shared metrics to one call.
#[derive(Debug)]
pub struct Memo {
    shared: Arc<[Key]>,
    answers: Box<[OnceCell<Result<RowAnswer>>]>,
    of: Address,
}

impl Memo {
    /// Returns the place of the answer of a metric to a call, if the memo has one.
    pub(crate) fn cell(&self, key: &Key, of: Address) -> Option<&OnceCell<Result<RowAnswer>>> {
        let position = self.shared.iter().position(|shared| shared == key)?;
        (self.of == of).then(|| &self.answers[position])
    }
}

/// The addresses of everything that a call refers to, and whether its explanation is read. A call with other rows or
/// another trace is another call, and an answer without an explanation is not reused where one is read.
pub(crate) type Address = [usize; 7];
