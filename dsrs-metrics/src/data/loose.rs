//! Rows of any shape, for what is no pair: results and labels.

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "cli")]
use serde_json::Value;

use super::row::{CheckedRow, Row};
use super::{DataError, Format, Input, OpenFile, ROW_LIMIT};
use crate::core::rows::pair::{Origin, Pair};

/// A row of which nothing is required but that it is an object.
pub(crate) struct LooseRow {
    /// Its id, or else its line, or its number in a JSON array.
    pub(crate) id: String,
    pub(crate) at: Origin,
    /// Whether values are cells of a format that knows only text.
    #[cfg(feature = "cli")]
    pub(crate) textual: bool,
    row: CheckedRow,
}

impl LooseRow {
    /// The row as a pair. What stands in the place of `gold` or `pred` and is no object is an attribute.
    pub(crate) fn into_pair(mut self) -> Pair {
        self.row.keep_halves();
        self.row.into_pair(self.at, |_| self.id)
    }
}

#[cfg(feature = "cli")]
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
    /// Opens a file, `-` being standard input; its extension says the format if nothing else does.
    pub(crate) fn open(file: &Path, format: Option<Format>) -> Result<Self, DataError> {
        let file = Input::new(file, format)?.open(ROW_LIMIT)?;
        Ok(Self { file, ended: false })
    }

    fn row(&mut self, row: Row, line: u64) -> Result<LooseRow, DataError> {
        self.file.read += 1;
        let at = Origin { file: Arc::clone(&self.file.name), line };
        let mut row = row.check_loosely(&at)?;
        let unnamed = if self.file.format == Format::Json { self.file.read } else { line };
        let id = row.take_id().unwrap_or_else(|| unnamed.to_string());
        Ok(LooseRow {
            id,
            at,
            #[cfg(feature = "cli")]
            textual: row.attributes().textual,
            row,
        })
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
