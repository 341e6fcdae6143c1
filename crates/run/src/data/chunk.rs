//! Rows of a file that are read together.

use std::sync::Arc;

#[cfg(feature = "csv")]
use super::csv::RecordChunk;
use super::data_file::DataFileRecord;
use super::error::DataError;
use super::json_lines::LineChunk;
use super::pairing::Pairing;
#[cfg(feature = "parquet")]
use super::parquet::BlockRows;
use super::row::LocatedRow;
use super::undecoded_row::UndecodedRow;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::{Pair, SpareRows};

/// The most rows of a chunk of rows that are decoded one by one.
pub(super) const ROWS_AT_ONCE: usize = 64;

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
pub(super) enum ChunkRow<'c> {
    Undecoded(&'c dyn UndecodedRow),
    Decoded(Box<LocatedRow>),
}

impl ChunkRows {
    /// Whether the chunk has any row or error.
    pub(super) fn has_rows(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.has_rows(),
            #[cfg(feature = "csv")]
            Self::Records(records) => records.len() > 0,
            #[cfg(feature = "parquet")]
            Self::Block(rows) => rows.len() > 0,
            Self::Rows(rows) => !rows.is_empty(),
        }
    }

    /// Calls a function with each row in order, until the function returns false. An error is the last call.
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
            Self::Rows(rows) => {
                rows.into_iter()
                    .all(|row| read(row.map(Box::new).map(ChunkRow::Decoded)));
            }
        }
    }
}

impl ChunkRow<'_> {
    /// The line of the row, from 1.
    pub(super) fn line(&self) -> u64 {
        match self {
            Self::Undecoded(row) => row.line(),
            Self::Decoded(row) => row.at.line,
        }
    }

    /// Returns the string in a column, or under a key of a JSON row.
    pub(super) fn string(self, name: &str) -> Result<Option<String>, DataError> {
        match self {
            Self::Undecoded(row) => row.string(name),
            Self::Decoded(row) => Ok(row.string(name)),
        }
    }

    /// Decodes the whole row.
    pub(super) fn row(self) -> Result<LocatedRow, DataError> {
        match self {
            Self::Undecoded(row) => row.row(),
            Self::Decoded(row) => Ok(*row),
        }
    }
}

impl Pairing {
    /// Decodes the rows of a chunk in the memory of other rows, up to the first error.
    pub(crate) fn decode(
        &self,
        rows: Result<RowChunk, DataError>,
        spare: &mut SpareRows,
        mut add: impl FnMut(Result<Box<Pair>, DataError>),
    ) {
        let RowChunk { rows, file } = match rows {
            Err(error) => return add(Err(error)),
            Ok(chunk) => chunk,
        };
        let mut number = 0;
        rows.each(|row| {
            let pair = row.and_then(|row| self.decode_row(row, spare));
            let is_valid = pair.is_ok();
            number += usize::from(is_valid);
            add(pair);
            is_valid
        });
        file.add_rows(number);
    }

    /// Decodes a row in the memory of a spare one.
    fn decode_row(&self, row: ChunkRow<'_>, spare: &mut SpareRows) -> Result<Box<Pair>, DataError> {
        let empty = || Box::new(Pair::new("", Example::default(), Prediction::default()));
        let mut pair = spare.pop().unwrap_or_else(empty);
        match row {
            ChunkRow::Undecoded(row) => self.read(row, &mut pair)?,
            ChunkRow::Decoded(row) => *pair = self.pair(*row)?,
        }
        Ok(pair)
    }
}
