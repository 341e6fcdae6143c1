//! Records of a CSV file, which become rows on any thread.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::core::rows::named_values::Fields;
use crate::core::rows::pair::Pair;
use crate::core::spec::Side;
use crate::data::columns::{Target, result_columns, target};
use crate::data::error::DataError;
use crate::data::input::Input;
use crate::data::pairing::Pairing;
use crate::data::result_row::{PROGRAM_FAILED, costs_of};
use crate::data::row::{LocatedRow, Row, RowObject};
use crate::data::selection::{DecodedKeys, FieldSelection};
use crate::data::undecoded_row::UndecodedRow;
use crate::json;
use crate::json::unique_keys::Shape;
use crate::messages::formula;

/// The columns of a file.
#[derive(Default)]
pub(super) struct Header {
    columns: Vec<(String, Column)>,
    /// The columns that a run reads, each with the field that it becomes. `None` if the run reads all columns.
    targets: Option<Vec<(usize, Target)>>,
    /// Whether the file is a result file. Attributes with empty cells are left out then.
    are_of_results: bool,
    /// Whether strings have the apostrophe before formulas that result files have.
    has_escapes: bool,
}

enum Column {
    Id,
    Field(Side, String),
    Attribute,
}

impl Header {
    pub(super) fn new(
        names: IndexSet<String>,
        has_escapes: bool,
        pairing: Option<&Pairing>,
    ) -> Self {
        let unescaped = |name: String| match has_escapes {
            true => formula::unescaped(&name).to_owned(),
            false => name,
        };
        let column = |name: String| {
            let column = match name.split_once('.') {
                _ if name == "id" => Column::Id,
                Some(("gold", field)) => Column::Field(Side::Gold, field.to_owned()),
                Some(("pred", field)) => Column::Field(Side::Pred, field.to_owned()),
                _ => Column::Attribute,
            };
            (name, column)
        };
        let columns = names.into_iter().map(unescaped).map(column).collect();
        let mut header = Self {
            columns,
            targets: None,
            are_of_results: false,
            has_escapes,
        };
        let names: HashMap<_, _> = header.names().zip(0..).collect();
        let costs = |name: &str| costs_of(name).filter(|costs| names.contains_key(&**costs));
        let are_of_results = header.names().any(|name| costs(name).is_some());
        // Names may be equal without their apostrophes.
        let are_unique = names.len() == header.columns.len();
        let is_mapped = pairing.is_some_and(Pairing::has_mappings);
        let selection = pairing.and_then(Pairing::selection);
        let selection = selection.filter(|_| are_unique && !(are_of_results && is_mapped));
        let targets = selection.map(|selection| {
            let of_results = match are_of_results {
                true => result_columns(header.names(), selection),
                false => HashSet::new(),
            };
            let is_read = |(_, name): &(usize, &str)| {
                of_results.contains(name) || selection.reads_column(name)
            };
            let position = |name: &str| names.get(name).copied();
            let target = |(index, name)| (index, target(name, selection, are_of_results, position));
            header
                .names()
                .enumerate()
                .filter(is_read)
                .map(target)
                .collect()
        });
        (header.targets, header.are_of_results) = (targets, are_of_results);
        header
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }
}

/// Records that are read together.
pub(crate) struct RecordChunk {
    header: Arc<Header>,
    file: Arc<Path>,
    /// The cells of all records, end to end, and free memory.
    pub(super) text: Vec<u8>,
    pub(super) text_len: usize,
    /// Where each cell ends, counted from the start of its record, and free memory.
    pub(super) ends: Vec<usize>,
    pub(super) cells: usize,
    records: Vec<Place>,
    /// The number of records before these.
    pub(super) records_before: u64,
    /// The error after the records.
    pub(super) error: Option<DataError>,
}

/// Where a record starts.
struct Place {
    line: u64,
    byte: usize,
    cell: usize,
}

/// One record.
pub(crate) struct Record<'c> {
    chunk: &'c RecordChunk,
    /// Its first line, counted from 1.
    line: u64,
    /// Its number among the records of the file, counted from 1.
    number: u64,
    text: &'c [u8],
    ends: &'c [usize],
}

impl RecordChunk {
    /// Returns a chunk with memory for this number of bytes and cells.
    pub(super) fn new(header: &Arc<Header>, input: &Input, (bytes, cells): (usize, usize)) -> Self {
        Self {
            header: Arc::clone(header),
            file: Arc::clone(&input.file),
            text: vec![0; bytes],
            text_len: 0,
            ends: vec![0; cells],
            cells: 0,
            records: Vec::new(),
            records_before: 0,
            error: None,
        }
    }

    pub(super) fn add(&mut self, line: u64, byte: usize, cell: usize) {
        self.records.push(Place { line, byte, cell });
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The bytes or cells, whichever are more.
    pub(super) fn size(&self) -> usize {
        self.text_len.max(self.cells)
    }

    fn record(&self, index: usize) -> Record<'_> {
        let Place { line, byte, cell } = self.records[index];
        let end = Place {
            line,
            byte: self.text_len,
            cell: self.cells,
        };
        let end = self.records.get(index + 1).unwrap_or(&end);
        let (text, ends) = (&self.text[byte..end.byte], &self.ends[cell..end.cell]);
        Record {
            chunk: self,
            line,
            number: self.records_before + 1 + index as u64,
            text,
            ends,
        }
    }

    /// The first record of a chunk that is not empty.
    pub(super) fn first(&self) -> Record<'_> {
        self.record(0)
    }

    /// Calls a function with each record in order and then with the error, until the function returns false.
    pub(crate) fn each(mut self, mut read: impl FnMut(Result<Record<'_>, DataError>) -> bool) {
        let error = self.error.take();
        if (0..self.len()).all(|index| read(Ok(self.record(index))))
            && let Some(error) = error
        {
            read(Err(error));
        }
    }
}

impl Record<'_> {
    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, index: usize) -> Range<usize> {
        let start = index
            .checked_sub(1)
            .map_or(0, |previous| self.ends[previous]);
        start..self.ends[index]
    }

    fn unescaped<'t>(&self, text: &'t str) -> &'t str {
        if self.chunk.header.has_escapes {
            formula::unescaped(text)
        } else {
            text
        }
    }

    /// The cell as a string; `column` names it in an error.
    pub(super) fn text(&self, index: usize, column: &str) -> Result<&str, DataError> {
        let cell = &self.text[self.range(index)];
        match str::from_utf8(cell) {
            Ok(text) => Ok(self.unescaped(text)),
            Err(error) => Err(DataError::CellNotUtf8 {
                at: self.at(),
                column: column.to_owned(),
                byte: error.valid_up_to() + 1,
                found: cell[error.valid_up_to()],
            }),
        }
    }

    /// The cells, end to end, if they are valid and as many as the columns.
    fn valid_text(&self) -> Option<&str> {
        let text = simdutf8::basic::from_utf8(self.text).ok()?;
        // Two invalid cells may be valid UTF-8 when they are joined.
        let are_valid = self.ends.iter().all(|end| text.is_char_boundary(*end));
        (are_valid && self.len() == self.chunk.header.columns.len()).then_some(text)
    }
}

impl UndecodedRow for Record<'_> {
    fn row(&self) -> Result<LocatedRow, DataError> {
        let (expected, found) = (self.chunk.header.columns.len(), self.len());
        if expected != found {
            return Err(DataError::Ragged {
                at: self.at(),
                expected,
                found,
            });
        }
        let mut row = RowObject {
            is_flat: true,
            ..RowObject::default()
        };
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for (index, (name, column)) in self.chunk.header.columns.iter().enumerate() {
            let text = self.text(index, name)?;
            let (fields, name) = match column {
                Column::Id => {
                    row.id = (!text.is_empty()).then(|| text.into());
                    continue;
                }
                Column::Field(Side::Gold, field) => (&mut gold, field),
                Column::Field(Side::Pred, field) => (&mut pred, field),
                Column::Attribute => (&mut row.attributes, name),
            };
            fields.insert(name, text);
            if text.len() < self.range(index).len() {
                fields.strings.push(name.clone());
            }
        }
        row.gold = (!gold.is_empty()).then_some(Shape::Map(gold));
        row.pred = (!pred.is_empty()).then_some(Shape::Map(pred));
        row.attributes = row.attributes.textual();
        Ok(LocatedRow {
            row: Row::Map(row),
            at: self.at(),
            number: self.number,
        })
    }

    fn decode(&self, _: Option<&FieldSelection>, row: &mut Pair) -> Option<DecodedKeys> {
        let header = &self.chunk.header;
        let (targets, text) = (header.targets.as_ref()?, self.valid_text()?);
        let Pair {
            id,
            gold,
            pred,
            attributes,
            run,
            ..
        } = row;
        (*attributes, *run) = (Fields::default(), None);
        gold.data.strings.clear();
        pred.data.strings.clear();
        let (mut keys, mut gold_len, mut pred_len) = (DecodedKeys::default(), 0, 0);
        for (index, target) in targets {
            let cell = self.unescaped(&text[self.range(*index)]);
            match target {
                Target::Id => {
                    keys.has_id = !cell.is_empty();
                    id.clear();
                    id.push_str(cell);
                }
                Target::Field(side, name) => {
                    let (fields, len) = match side {
                        Side::Gold => (&mut gold.data, &mut gold_len),
                        Side::Pred => (&mut pred.data, &mut pred_len),
                    };
                    json::set_string(fields.rewrite_static(*len, name)?, cell);
                    *len += 1;
                    if cell.len() < self.range(*index).len() {
                        fields.strings.push((*name).to_owned());
                    }
                    keys.has_sides = true;
                }
                Target::Attribute(_) if header.are_of_results && cell.is_empty() => {}
                Target::Attribute(name) => _ = attributes.insert(name.as_str(), cell),
                Target::Outcome(_) if cell == PROGRAM_FAILED => return None,
                Target::Unusual if !cell.is_empty() => return None,
                Target::Outcome(_) | Target::Unusual | Target::Unread => {}
            }
        }
        gold.data.truncate(gold_len);
        pred.data.truncate(pred_len);
        for fields in [&mut gold.data, &mut pred.data, attributes] {
            fields.textual = true;
        }
        Some(keys)
    }

    fn string(&self, name: &str) -> Result<Option<String>, DataError> {
        let index = self.chunk.header.names().position(|other| other == name);
        let index = index.filter(|index| *index < self.len());
        index
            .map(|index| self.text(index, name).map(str::to_owned))
            .transpose()
    }

    fn file(&self) -> &Arc<Path> {
        &self.chunk.file
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn number(&self) -> u64 {
        self.number
    }
}
