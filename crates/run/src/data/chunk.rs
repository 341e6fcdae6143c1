//! Rows of a file that are read together.

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "csv")]
use super::csv::RecordChunk;
use super::data_file::DataFileRecord;
use super::error::DataError;
use super::json_lines::LineChunk;
#[cfg(feature = "parquet")]
use super::parquet::BlockRows;
use super::row::LocatedRow;
use super::selection::{DecodedKeys, FieldSelection};
use crate::core::rows::pair::{Origin, Pair};

/// Some rows of a file.
pub(crate) struct RowChunk {
    pub(super) rows: ChunkRows,
    /// The record of the file, which counts the rows.
    pub(super) file: Arc<DataFileRecord>,
}

pub(super) enum ChunkRows {
    Lines(LineChunk),
    #[cfg(feature = "csv")]
    Records(RecordChunk),
    #[cfg(feature = "parquet")]
    Block(BlockRows),
    /// Rows that were decoded one by one, up to the first error.
    Rows(Vec<Result<LocatedRow, DataError>>),
}

/// A row of a chunk.
#[expect(clippy::large_enum_variant, reason = "a row is moved once")]
pub(super) enum ChunkRow<'c> {
    Undecoded(&'c dyn UndecodedRow),
    Decoded(LocatedRow),
}

/// A row that is not decoded yet.
pub(super) trait UndecodedRow {
    /// Decodes the whole row.
    fn row(&self) -> Result<LocatedRow, DataError>;

    /// Decodes the selected fields in the memory of another row; `None` if the row is not a common one.
    fn decode(&self, selection: &FieldSelection, row: &mut Pair) -> Option<DecodedKeys>;

    /// The row as a line of JSON, if it is one and not longer than a row may be.
    fn line(&self) -> Option<&str> {
        None
    }

    fn file(&self) -> &Arc<Path>;

    /// The line of the row, from 1.
    fn number(&self) -> u64;

    fn at(&self) -> Origin {
        Origin { file: Arc::clone(self.file()), line: self.number() }
    }
}

impl ChunkRows {
    /// Calls a function with the rows in order, as long as it returns true. There is no row after an error.
    pub(super) fn each(self, mut read: impl FnMut(Result<ChunkRow<'_>, DataError>) -> bool) {
        match self {
            Self::Lines(lines) => lines.each_row(|line| read(Ok(ChunkRow::Undecoded(line)))),
            #[cfg(feature = "csv")]
            Self::Records(records) => records.each(|record| match record {
                Ok(record) => read(Ok(ChunkRow::Undecoded(&record))),
                Err(error) => read(Err(error)),
            }),
            #[cfg(feature = "parquet")]
            Self::Block(rows) => rows.each_row(|row| read(Ok(ChunkRow::Undecoded(row)))),
            Self::Rows(rows) => _ = rows.into_iter().all(|row| read(row.map(ChunkRow::Decoded))),
        }
    }
}

impl ChunkRow<'_> {
    /// Decodes the whole row.
    pub(super) fn row(self) -> Result<LocatedRow, DataError> {
        match self {
            Self::Undecoded(row) => row.row(),
            Self::Decoded(row) => Ok(row),
        }
    }
}
