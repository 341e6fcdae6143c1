//! Rows that are decoded one after another in the same memory, for code that keeps none of them.

use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::{Origin, Pair};
use crate::data::DataError;

/// A row whose memory the next one uses again. It has only the fields that are read, and no attributes.
pub(crate) struct LentRow {
    pub(crate) id: String,
    pub(crate) gold: Example,
    pub(crate) pred: Prediction,
    pub(crate) at: Origin,
}

/// Receives the rows of a chunk in order.
pub(crate) trait RowVisitor {
    /// Returns whether rows may be lent.
    fn takes_lent(&self) -> bool;

    /// Visits a row in the memory of the one before. Returns whether that was enough; otherwise the row is passed to
    /// [`own`](Self::own) too.
    fn lent(&mut self, row: &LentRow) -> bool;

    /// Visits a row, or the error that is the last of the chunk. Returns whether to go on.
    fn own(&mut self, row: Result<Pair, DataError>) -> bool;
}

impl LentRow {
    /// An empty row of the file that `at` names.
    pub(super) fn new(at: Origin) -> Self {
        let (gold, pred) = (Example::default(), Prediction::default());
        Self { id: String::new(), gold, pred, at }
    }
}
