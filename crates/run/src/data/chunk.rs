//! Rows of a file that are read together.

use std::path::Path;
use std::sync::Arc;

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
    /// Rows that are not decoded yet.
    Lines(LineChunk),
    /// As [`Lines`](Self::Lines), of a file of columns.
    #[cfg(feature = "parquet")]
    Block(BlockRows),
    /// Rows of a format without lines, up to the first error.
    Rows(Vec<Result<LocatedRow, DataError>>),
}

/// A row that is not decoded yet.
pub(super) trait UndecodedRow {
    /// Decodes the whole row.
    fn row(&self) -> Result<LocatedRow, DataError>;

    /// Decodes the selected fields in the memory of another row; `None` if the row is not a common one.
    fn decode(&self, selection: &FieldSelection, row: &mut Pair) -> Option<DecodedKeys>;

    fn file(&self) -> &Arc<Path>;

    /// The line of the row, from 1.
    fn number(&self) -> u64;

    fn at(&self) -> Origin {
        Origin { file: Arc::clone(self.file()), line: self.number() }
    }
}
