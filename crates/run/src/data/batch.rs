//! Rows of a file that are read together and decoded later, on any thread.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

#[cfg(feature = "csv")]
use super::csv::CsvRows;
use super::error::DataError;
use super::pairing::Pairing;
#[cfg(feature = "parquet")]
use super::parquet::ColumnRows;
use super::row::RowObject;
use super::selection::FieldSelection;
use super::text::TextRows;
use crate::contract::{Origin, Pair};

/// Rows of a file that are read together.
pub(crate) struct Batch {
    pub(super) file: Arc<Path>,
    pub(super) rows: BatchRows,
    /// The number of rows in the file before these.
    pub(super) rows_before: u64,
    /// The error that follows the rows.
    pub(super) error: Option<DataError>,
    /// Dropped once the rows are decoded.
    pub(super) _until_decoded: Option<Sender<Infallible>>,
}

pub(super) enum BatchRows {
    Text(TextRows),
    #[cfg(feature = "csv")]
    Csv(CsvRows),
    #[cfg(feature = "parquet")]
    Columns(ColumnRows),
    /// The positions and lines of gold rows without a prediction.
    Gold(Vec<(usize, u64)>),
}

/// A row that is not yet decoded.
pub(crate) struct RawRow<'b> {
    rows: &'b BatchRows,
    index: usize,
    /// The row's file and line.
    pub(crate) at: Origin,
    /// The row's number in its file, counted from 1 in every format. A row without an id uses this number as its id.
    pub(super) number: u64,
}

impl BatchRows {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(rows) => rows.len(),
            #[cfg(feature = "csv")]
            Self::Csv(rows) => rows.len(),
            #[cfg(feature = "parquet")]
            Self::Columns(rows) => rows.len(),
            Self::Gold(rows) => rows.len(),
        }
    }
}

impl Batch {
    /// Creates a batch for a file that cannot be read.
    pub(super) fn failed(error: DataError) -> Self {
        let no_rows = BatchRows::Text(TextRows::default());
        Self::new(Path::new("").into(), no_rows, Some(error))
    }

    /// Creates a batch of a file's first rows.
    pub(super) fn new(file: Arc<Path>, rows: BatchRows, error: Option<DataError>) -> Self {
        Self {
            file,
            rows,
            rows_before: 0,
            error,
            _until_decoded: None,
        }
    }

    fn row(&self, index: usize) -> RawRow<'_> {
        let number = self.rows_before + 1 + index as u64;
        let line = match &self.rows {
            BatchRows::Text(rows) => rows.line(index),
            #[cfg(feature = "csv")]
            BatchRows::Csv(rows) => rows.line(index),
            #[cfg(feature = "parquet")]
            BatchRows::Columns(_) => number,
            BatchRows::Gold(rows) => rows[index].1,
        };
        RawRow {
            rows: &self.rows,
            index,
            at: Origin {
                file: Arc::clone(&self.file),
                line,
            },
            number,
        }
    }

    /// Decodes the rows. An error is always the last item.
    pub(crate) fn decode<T, E: From<DataError>>(
        mut self,
        mut decode: impl FnMut(&RawRow<'_>) -> Result<T, E>,
    ) -> Vec<Result<T, E>> {
        let mut decoded = Vec::with_capacity(self.rows.len());
        for index in 0..self.rows.len() {
            decoded.push(decode(&self.row(index)));
            if decoded.last().is_some_and(Result::is_err) {
                return decoded;
            }
        }
        decoded.extend(self.error.take().map(|error| Err(error.into())));
        decoded
    }
}

impl RawRow<'_> {
    /// Decodes the row into a pair, or returns `None` if the run leaves the row out. Only the selected fields are
    /// decoded, unless the row is unusual or an error may need other fields.
    pub(crate) fn pair(&self, pairing: &Pairing) -> Result<Option<Pair>, DataError> {
        if let BatchRows::Gold(rows) = self.rows {
            return pairing.pair_without_pred(rows[self.index].0, &self.at);
        }
        let pair_of = |row| pairing.pair_of(row, &self.at, self.number);
        if let Some(selection) = pairing.selection.as_ref()
            && let Ok(pair) = self.read(Some(selection)).and_then(pair_of)
            && pair
                .as_ref()
                .is_none_or(|pair| selection.has_required(pair))
        {
            return Ok(pair);
        }
        self.read(None).and_then(pair_of)
    }

    /// Decodes the row. With a selection, other fields may be missing.
    pub(super) fn read(&self, selection: Option<&FieldSelection>) -> Result<RowObject, DataError> {
        match self.rows {
            BatchRows::Text(rows) => rows.read(self.index, &self.at, selection),
            #[cfg(feature = "csv")]
            BatchRows::Csv(rows) => rows.read(self.index, &self.at, selection),
            #[cfg(feature = "parquet")]
            BatchRows::Columns(rows) => rows.read(self.index, &self.at),
            BatchRows::Gold(_) => Ok(RowObject::default()),
        }
    }

    /// Returns the row's JSON text, or `None` if the row has a different format or exceeds the row limit.
    pub(crate) fn json(&self) -> Option<&str> {
        match self.rows {
            BatchRows::Text(rows) => rows.text(self.index),
            _ => None,
        }
    }
}
