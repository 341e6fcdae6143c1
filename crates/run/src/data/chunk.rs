//! Rows of a file that are read together.

use std::sync::Arc;

use super::data_file::DataFileRecord;
use super::error::DataError;
use super::json_lines::LineChunk;
use super::row::LocatedRow;

/// Some rows of a file.
pub(crate) struct RowChunk {
    pub(super) rows: ChunkRows,
    /// The record of the file, which counts the rows.
    pub(super) file: Arc<DataFileRecord>,
}

pub(super) enum ChunkRows {
    /// Rows that are not decoded yet.
    Lines(LineChunk),
    /// Rows of a format without lines, up to the first error.
    Rows(Vec<Result<LocatedRow, DataError>>),
}
