//! [`RowIndex`]: the ids, lines and gold rows of a result file.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexSet;

use super::error::ResultsError;
use crate::contract::Origin;
use crate::evaluate::report::ResultRow;

/// The ids, lines and gold-row hashes of a file.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct RowIndex {
    ids: IndexSet<Box<str>>,
    file: Option<Arc<Path>>,
    /// The line of each row.
    lines: Vec<u64>,
    /// The hash of each gold row.
    gold: Vec<Option<u64>>,
    /// `true` if any row has no id of its own.
    has_positional: bool,
}

impl RowIndex {
    /// Adds a row.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if an earlier row has the same id.
    pub fn add(&mut self, row: &ResultRow) -> Result<(), ResultsError> {
        let (place, is_new) = self.ids.insert_full(row.id.as_str().into());
        if !is_new {
            let first = self.lines[place];
            return Err(ResultsError::duplicate_id(&row.at(), &row.id, first));
        }
        if let Some(origin) = &row.origin {
            self.file.get_or_insert_with(|| Arc::clone(&origin.file));
        }
        self.lines
            .push(row.origin.as_ref().map_or(0, |origin| origin.line));
        self.gold.push(row.gold_hash);
        self.has_positional |= row.is_positional;
        Ok(())
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the id of the row at this position.
    pub fn id(&self, row: usize) -> &str {
        &self.ids[row]
    }

    /// Returns the position of the row with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.ids.get_index_of(id)
    }

    /// Returns the location of the row at this position, for error messages.
    pub fn at(&self, row: usize) -> Origin {
        let unknown = || Path::new("evaluation").into();
        Origin {
            file: self.file.clone().unwrap_or_else(unknown),
            line: self.lines.get(row).copied().unwrap_or_default(),
        }
    }

    /// Returns `true` if any row has no id of its own and is identified by its position.
    pub fn has_positional(&self) -> bool {
        self.has_positional
    }

    /// Returns the hash of the gold row at this position; `None` if the file has neither the hash nor the gold row.
    pub fn gold_hash(&self, row: usize) -> Option<u64> {
        self.gold.get(row).copied().flatten()
    }
}
