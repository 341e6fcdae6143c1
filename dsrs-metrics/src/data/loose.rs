//! Rows of any shape, for commands that read something else than pairs: results and labels.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::row::{CheckedRow, Row};
use super::{DataError, Format, Input, OpenFile, ROW_LIMIT};
use crate::pair::Origin;

/// A row of which nothing is required but that it is an object.
pub(crate) struct LooseRow {
    /// Its id, or else its line, or its number in a JSON array.
    pub(crate) id: String,
    pub(crate) at: Origin,
    /// Whether values are cells of a format that knows only text.
    pub(crate) textual: bool,
    row: CheckedRow,
}

impl LooseRow {
    /// The value at a dotted path: `gold.FIELD`, `pred.FIELD` or any other key of the row.
    pub(crate) fn find(&self, path: &str) -> Option<&Value> {
        self.row.find(path)
    }

    /// The keys of the row but `id`, `gold` and `pred`.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.row.attributes().keys()
    }
}

/// The rows of one file, one at a time; it ends with its first error.
pub(crate) struct LooseRows {
    file: OpenFile,
    ended: bool,
}

impl LooseRows {
    /// Opens a file, `-` being standard input.
    pub(crate) fn open(file: &Path) -> Result<Self, DataError> {
        let file = Input::new(file, None)?.open(ROW_LIMIT)?;
        Ok(Self { file, ended: false })
    }

    fn row(&mut self, row: Row, line: u64) -> Result<LooseRow, DataError> {
        self.file.read += 1;
        let at = Origin { file: Arc::clone(&self.file.name), line };
        let mut row = row.check_loosely(&at)?;
        let unnamed = if self.file.format == Format::Json { self.file.read } else { line };
        let id = row.take_id().unwrap_or_else(|| unnamed.to_string());
        Ok(LooseRow { id, at, textual: row.attributes().textual, row })
    }
}

impl Iterator for LooseRows {
    type Item = Result<LooseRow, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let row = match self.file.rows.next() {
            Some(Ok((row, line))) => Some(self.row(row, line)),
            Some(Err(error)) => Some(Err(error)),
            None if self.file.read == 0 => {
                Some(Err(DataError::Empty { file: self.file.name.to_path_buf() }))
            }
            None => None,
        };
        self.ended = !matches!(row, Some(Ok(_)));
        row
    }
}
