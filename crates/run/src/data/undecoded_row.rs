//! [`UndecodedRow`]: a row whose fields are decoded when a thread evaluates it.

use std::path::Path;
use std::sync::Arc;

use super::error::DataError;
use super::row::LocatedRow;
use super::selection::{DecodedKeys, FieldSelection};
use crate::core::rows::pair::{Origin, Pair};

/// A row that is not decoded yet.
pub(super) trait UndecodedRow {
    /// Decodes the whole row.
    fn row(&self) -> Result<LocatedRow, DataError>;

    /// Decodes the selected fields, or all, in the memory of another row; `None` if the row is not a common one.
    fn decode(&self, selection: Option<&FieldSelection>, row: &mut Pair) -> Option<DecodedKeys>;

    /// Returns the string in a column, or under a key of a JSON row. Other columns may be invalid.
    fn string(&self, name: &str) -> Result<Option<String>, DataError> {
        self.row().map(|row| row.string(name))
    }

    /// The row as a line of JSON, if it is one and not longer than a row may be.
    fn json(&self) -> Option<&str> {
        None
    }

    fn file(&self) -> &Arc<Path>;

    /// The line of the row, from 1.
    fn line(&self) -> u64;

    /// The number of the row among the rows of its file, from 1. It is the same in every format.
    fn number(&self) -> u64;

    fn at(&self) -> Origin {
        Origin {
            file: Arc::clone(self.file()),
            line: self.line(),
        }
    }
}
