//! Rows that need only be objects: result files, labels, training data.

use std::iter;
use std::path::Path;

use serde_json::Value;

use super::chunk::{ChunkRow, RowChunk};
use super::error::DataError;
use super::format::Format;
use super::input::{Apostrophes, ROW_LIMIT};
use super::row::{LocatedRow, Row, ValidRow, validated_object};
use super::row_file::{NamedFile, RowFile, UnopenedFile};
use crate::core::rows::pair::{Origin, Pair};
use crate::in_order::in_order;

/// A row that is an object, with or without `gold` and `pred`.
#[doc(hidden)]
pub struct ObjectRow {
    /// Its id, or else its number in the file.
    pub id: String,
    /// Whether the row contains its id.
    pub has_id: bool,
    /// Where it is.
    pub at: Origin,
    /// The keys of `scores`, in the order of the file.
    pub score_names: Vec<String>,
    /// Whether the values are cells of a format that has only strings.
    pub textual: bool,
    /// Whether the row is from a format with columns, in which a score has several columns.
    pub is_flat: bool,
    /// Whether the row is from a result file.
    pub(crate) is_result: bool,
    row: ValidRow,
}

impl ObjectRow {
    fn new(LocatedRow { row, at, number }: LocatedRow) -> Result<Self, DataError> {
        let is_result = matches!(&row, Row::Map(object) if object.is_result());
        let mut row = validated_object(row, &at)?;
        let id = row.take_id();
        Ok(Self {
            has_id: id.is_some(),
            id: id.unwrap_or_else(|| number.to_string()),
            at,
            score_names: row.take_score_names(),
            textual: row.attributes().textual,
            is_flat: row.is_flat(),
            is_result,
            row,
        })
    }

    /// Reads a line of JSON.
    #[cfg(test)]
    pub(crate) fn parse(line: &str, at: &Origin) -> Result<Self, DataError> {
        let row = super::json_row::parse(line.as_bytes(), at, 1, crate::json::size::MAX_VALUES)?;
        Self::new(LocatedRow {
            row,
            at: at.clone(),
            number: at.line,
        })
    }

    /// Returns the row as a pair. `gold` and `pred` become attributes where they are not objects.
    pub(crate) fn into_pair(mut self) -> Pair {
        self.row.keep_whole_sides();
        self.row.into_pair(self.at, |_| self.id)
    }
}

#[allow(dead_code, reason = "the command line uses them")]
impl ObjectRow {
    /// The value at a dotted path: `gold.FIELD`, `pred.FIELD` or any other key of the row.
    #[doc(hidden)]
    pub fn find(&self, path: &str) -> Option<&Value> {
        self.row.find(path)
    }

    /// The hashes of the gold row and of the prediction, if the row has them or their hashes.
    #[doc(hidden)]
    pub fn hashes(&self) -> [Option<u64>; 2] {
        self.row.hashes()
    }

    /// The keys of the row except `id`, `gold` and `pred`.
    #[doc(hidden)]
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.row.attributes().keys()
    }
}

/// Reads the rows of a file on all threads, and calls `each` with them in order; the first error is the last call. Rows in lines for
/// which `is_read` returns false are skipped. `of_line` makes a row of a line of JSON; if it returns `None`, `of_object` does.
pub(crate) fn read_objects<R: Send, D: From<DataError> + Send, E>(
    file: NamedFile<'_>,
    is_read: impl Fn(u64) -> bool + Sync,
    of_line: impl Fn(&str, &dyn Fn() -> Origin) -> Option<R> + Sync,
    of_object: impl Fn(ObjectRow) -> Result<R, D> + Sync,
    mut each: impl FnMut(Result<R, D>) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = match open(file, None) {
        Ok(file) => file,
        Err(error) => return each(Err(error.into())),
    };
    let read = |row: ChunkRow<'_>| {
        if let ChunkRow::Undecoded(row) = &row
            && let Some(made) = row.json().and_then(|line| of_line(line, &|| row.at()))
        {
            return Ok(made);
        }
        of_object(ObjectRow::new(row.row()?)?)
    };
    in_order(
        |chunk: Result<RowChunk, DataError>| {
            let chunk = match chunk {
                Err(unreadable) => return vec![Err(unreadable.into())],
                Ok(chunk) => chunk,
            };
            let mut rows = Vec::new();
            chunk.rows.each(|row| {
                if row.as_ref().is_ok_and(|row| !is_read(row.line())) {
                    return true;
                }
                rows.push(row.map_err(D::from).and_then(&read));
                rows.last().is_some_and(Result::is_ok)
            });
            rows
        },
        |rows| rows.into_iter().try_for_each(&mut each),
        |pass| iter::from_fn(|| file.next_chunk()).try_for_each(pass),
    )
}

pub(super) fn open<'f>(
    file: impl Into<NamedFile<'f>>,
    format: Option<Format>,
) -> Result<RowFile, DataError> {
    UnopenedFile::new(file, format)?.open(ROW_LIMIT, Apostrophes::Escapes, None, false)
}

/// The rows of one file. The iterator ends after its first error.
#[doc(hidden)]
pub struct ObjectRows {
    file: RowFile,
    /// The rows of the current chunk.
    decoded: std::vec::IntoIter<Result<ObjectRow, DataError>>,
    ended: bool,
}

impl ObjectRows {
    /// Opens a file. Without a format, the extension decides; `-` is standard input.
    #[doc(hidden)]
    pub fn open(file: &Path, format: Option<Format>) -> Result<Self, DataError> {
        let file = open(file, format)?;
        Ok(Self {
            file,
            decoded: Vec::new().into_iter(),
            ended: false,
        })
    }
}

fn decoded(chunk: Result<RowChunk, DataError>) -> Vec<Result<ObjectRow, DataError>> {
    match chunk {
        Err(error) => vec![Err(error)],
        Ok(chunk) => {
            let mut rows = Vec::new();
            chunk.rows.each(|row| {
                rows.push(row.and_then(ChunkRow::row).and_then(ObjectRow::new));
                rows.last().is_some_and(Result::is_ok)
            });
            rows
        }
    }
}

impl Iterator for ObjectRows {
    type Item = Result<ObjectRow, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let row = loop {
            match self.decoded.next() {
                None => match self.file.next_chunk() {
                    None => break None,
                    Some(chunk) => self.decoded = decoded(chunk).into_iter(),
                },
                row => break row,
            }
        };
        self.ended = !matches!(row, Some(Ok(_)));
        row
    }
}
