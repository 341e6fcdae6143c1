//! Rows of a file that are read together.

use std::sync::Arc;

#[cfg(feature = "csv")]
use super::csv::{Record, RecordChunk};
use super::data_file::DataFileRecord;
use super::error::DataError;
use super::json_lines::{Line, LineChunk};
use super::row::LocatedRow;

/// Some rows of a file.
pub(crate) struct RowChunk {
    pub(super) rows: ChunkRows,
    /// The record of the file, which counts the rows.
    pub(super) file: Arc<DataFileRecord>,
}

pub(super) enum ChunkRows {
    /// Lines that are not decoded yet.
    Lines(LineChunk),
    /// Records whose cells are not decoded yet.
    #[cfg(feature = "csv")]
    Records(RecordChunk),
    /// Rows of another format, up to the first error.
    Rows(Vec<Result<LocatedRow, DataError>>),
}

/// A row of a chunk.
pub(super) enum ChunkRow<'c> {
    Line(Line<'c>),
    #[cfg(feature = "csv")]
    Record(Record<'c>),
    Row(LocatedRow),
}

impl ChunkRows {
    /// Calls a function with the rows in order, as long as it returns true. There is no row after an error.
    pub(super) fn each(self, mut read: impl FnMut(Result<ChunkRow<'_>, DataError>) -> bool) {
        match self {
            Self::Lines(lines) => lines.each_row(|line| read(Ok(ChunkRow::Line(line)))),
            #[cfg(feature = "csv")]
            Self::Records(records) => records.each(|record| read(record.map(ChunkRow::Record))),
            Self::Rows(rows) => _ = rows.into_iter().all(|row| read(row.map(ChunkRow::Row))),
        }
    }
}

impl ChunkRow<'_> {
    /// Decodes the columns that are selected, of a format with columns.
    pub(super) fn selected(self) -> Result<LocatedRow, DataError> {
        #[cfg(feature = "csv")]
        if let Self::Record(record) = &self
            && let Some(row) = record.selected()
        {
            return Ok(row);
        }
        self.row()
    }

    /// Decodes the whole row.
    pub(super) fn row(self) -> Result<LocatedRow, DataError> {
        match self {
            Self::Line(line) => line.row(),
            #[cfg(feature = "csv")]
            Self::Record(record) => record.row(),
            Self::Row(row) => Ok(row),
        }
    }
}
