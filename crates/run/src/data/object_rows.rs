//! Rows that can be arbitrary objects, for result files, labels and training data.

use std::borrow::Cow;
use std::iter;
use std::path::Path;

use serde_json::Value;

use super::batch::RawRow;
use super::error::DataError;
use super::mapping::Mapping;
use super::pairing::Pairing;
use super::row::{RowObject, id_of};
use super::row_file::{FileOptions, Format, NamedFile, RowFile, RowSource};
use super::selection::FieldSelection;
use crate::contract::{Origin, Pair, Side};
use crate::json::read::Shape;

/// A row of a file, as an object with arbitrary keys.
///
/// The object can have the keys `gold` and `pred`, but doesn't need them.
#[doc(hidden)]
pub struct ObjectRow {
    /// The row's id, or its number in the file if it has no id.
    pub id: String,
    /// `true` if the row has an id of its own.
    pub has_id: bool,
    /// The location of the row.
    pub at: Origin,
    /// The keys of the row's `scores` object, in file order.
    pub score_names: Vec<String>,
    /// `true` if the format stores every value as a string.
    pub textual: bool,
    /// `true` if the file format has columns, like CSV.
    ///
    /// In a format with columns, each score spans several columns.
    pub is_flat: bool,
    /// `true` if the row is from a result file.
    pub(crate) is_result: bool,
    /// `true` if the row has a number that JSON cannot represent.
    ///
    /// A number such as NaN is read as null.
    #[doc(hidden)]
    pub has_nan: bool,
    row: RowObject,
}

impl ObjectRow {
    pub(crate) fn read(raw: &RawRow<'_>) -> Result<Self, DataError> {
        Self::new(raw.read(None)?, raw.at.clone(), raw.number)
    }

    fn new(mut row: RowObject, at: Origin, number: u64) -> Result<Self, DataError> {
        if row.has_nan {
            row.clear_not_finite();
        }
        let is_result = row.is_result();
        row.validate(&at, |_, _| true)?;
        let id = row.id.take().map(|id| id_of(id, &at)).transpose()?;
        Ok(Self {
            has_id: id.is_some(),
            id: id.unwrap_or_else(|| number.to_string()),
            at,
            score_names: std::mem::take(&mut row.score_names),
            textual: row.attributes.textual,
            is_flat: row.is_flat,
            is_result,
            has_nan: row.has_nan,
            row,
        })
    }

    /// Reads a line of JSON.
    #[cfg(test)]
    pub(crate) fn parse(line: &str, at: &Origin) -> Result<Self, DataError> {
        let start = super::json::Start { at, column: 1 };
        let row = super::json::parse(line.as_bytes(), start, crate::json::MAX_VALUES)?;
        row.check_object(at)?;
        Self::new(row, at.clone(), at.line)
    }

    /// Returns the row as a pair. `gold` and `pred` become attributes if they are not objects.
    pub(crate) fn into_pair(mut self) -> Pair {
        self.row.keep_whole_sides();
        self.row.into_pair(&self.at, self.id, true)
    }
}

#[allow(dead_code, reason = "the command line uses them")]
impl ObjectRow {
    /// Returns the value at a dotted path.
    ///
    /// The path is `gold.FIELD`, `pred.FIELD` or any other key of the row.
    #[doc(hidden)]
    pub fn find(&self, path: &str) -> Option<Cow<'_, Value>> {
        self.row.find(path)
    }

    /// Returns the value that a mapping selects.
    ///
    /// If the mapping selects several columns, their values are joined with commas.
    #[doc(hidden)]
    pub fn mapped(&self, mapping: &Mapping) -> Option<Value> {
        self.row.value_of(mapping).map(|(value, _)| value)
    }

    /// Returns the whole gold row or prediction, if there is one.
    #[doc(hidden)]
    pub fn side(&self, side: Side) -> Option<Value> {
        let side = match side {
            Side::Gold => self.row.gold.as_ref()?,
            Side::Pred => self.row.pred.as_ref()?,
        };
        Some(match side {
            Shape::Other(value) => value.clone(),
            Shape::Map(fields) => fields.iter().map(|(k, v)| (k, v.clone())).collect(),
        })
    }

    /// Returns the hashes of the gold row and of the prediction.
    ///
    /// A hash is `None` if the row contains neither the hash nor the object itself.
    #[doc(hidden)]
    pub fn hashes(&self) -> [Option<u64>; 2] {
        self.row.hashes()
    }

    /// Returns the row's keys, except `id`, `gold` and `pred`.
    #[doc(hidden)]
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.row.attributes.keys()
    }
}

/// Opens a file whose rows can be arbitrary objects.
pub(crate) fn open_objects(file: NamedFile<'_>) -> Result<RowFile, DataError> {
    open(file, FileOptions::default(), None)
}

/// Returns the strings in a column, or under a key of JSON rows, up to the first unreadable row.
pub(crate) fn column_strings(file: &Path, format: Option<Format>, name: &str) -> Vec<String> {
    let mut selection = FieldSelection::default();
    selection.add_path(name);
    // A pair would need all columns, and the rows need not be pairs.
    let pairing = Pairing {
        are_examples: true,
        selection: Some(selection.clone()),
        ..Pairing::default()
    };
    let options = FileOptions {
        format,
        ..FileOptions::default()
    };
    let Ok(mut file) = open(file, options, Some(&pairing)) else {
        return Vec::new();
    };
    let key = format!("\"{name}\"");
    let string = |row: &RawRow<'_>| {
        if row.json().is_some_and(|json| !json.contains(&key)) {
            return Ok(None);
        }
        let mut row = row.read(Some(&selection))?;
        row.clear_not_finite();
        let value = row.attributes.get(name).and_then(Value::as_str);
        Ok::<_, DataError>(value.map(str::to_owned))
    };
    let mut strings = Vec::new();
    // The error ends the search.
    let _ = file.each_row(string, |string| {
        string.map(|string| strings.extend(string.take()))
    });
    strings
}

fn open<'f>(
    file: impl Into<NamedFile<'f>>,
    options: FileOptions,
    pairing: Option<&Pairing>,
) -> Result<RowFile, DataError> {
    let options = FileOptions {
        has_escapes: true,
        ..options
    };
    RowSource::new(file, options)?.open(pairing, false)
}

/// An iterator over the rows of one file.
///
/// The iterator ends after the first error.
#[doc(hidden)]
pub struct ObjectRows {
    rows: Box<dyn Iterator<Item = Result<ObjectRow, DataError>> + Send>,
    note: Option<String>,
}

/// Ends the iterator after its first error.
pub(super) fn until_error<T>(
    rows: impl Iterator<Item = Result<T, DataError>>,
) -> impl Iterator<Item = Result<T, DataError>> {
    let mut has_ended = false;
    rows.map_while(move |row| {
        let is_read = !has_ended;
        has_ended |= row.is_err();
        is_read.then_some(row)
    })
}

impl ObjectRows {
    /// Opens a file of rows.
    ///
    /// If `format` is `None`, the extension selects the format.
    ///
    /// The path `-` is standard input.
    #[doc(hidden)]
    pub fn open(file: &Path, format: Option<Format>) -> Result<Self, DataError> {
        let options = FileOptions {
            format,
            ..FileOptions::default()
        };
        Self::open_with(file, options)
    }

    pub(super) fn open_with(file: &Path, options: FileOptions) -> Result<Self, DataError> {
        let mut file = open(file, options, None)?;
        let note = file.record.progress().note.clone();
        let batches = iter::from_fn(move || file.next_batch());
        let rows = batches.flat_map(|batch| batch.decode(ObjectRow::read));
        Ok(Self {
            rows: Box::new(until_error(rows)),
            note,
        })
    }

    /// Returns a note about how the file is read.
    ///
    /// Returns `None` if there is nothing to report.
    #[doc(hidden)]
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }
}

impl Iterator for ObjectRows {
    type Item = Result<ObjectRow, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next()
    }
}
