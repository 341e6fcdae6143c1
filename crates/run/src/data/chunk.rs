//! Rows of a file that are read together.

use super::error::DataError;
use super::json_lines::LineChunk;
use super::row::LocatedRow;

/// Some rows of a file.
pub(crate) enum RowChunk {
    /// Rows that are not decoded yet.
    Lines(LineChunk),
    /// Rows of a format without lines, up to the first error.
    Rows(Vec<Result<LocatedRow, DataError>>),
}
