//! Records of a CSV file, which become rows on any thread.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value;

use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::{Origin, Pair};
use crate::core::spec::Side;
use crate::data::error::DataError;
use crate::data::input::Input;
use crate::data::result_row::{ATTRIBUTES, PROGRAM_FAILED, is_of_row, is_outcome};
use crate::data::row::{LocatedRow, Row, RowObject};
use crate::data::selection::FieldSelection;
use crate::json::unique_keys::Shape;
use crate::messages::formula;

/// The columns of a file.
#[derive(Default)]
pub(super) struct Header {
    columns: Vec<(String, Column)>,
    /// The columns that the run reads, if these are not all.
    selected: Option<Vec<usize>>,
    /// Where the cells of these columns go, if records that pass the checks are valid rows.
    targets: Option<Vec<(usize, Target)>>,
    /// Whether strings have the apostrophe before formulas that result files have.
    has_escapes: bool,
}

enum Column {
    Id,
    Field(Side, String),
    Attribute,
}

enum Target {
    Id,
    Gold(&'static str),
    Pred(&'static str),
    Attribute(String),
    /// An attribute in a result file, where an empty cell is none.
    Given(String),
    /// A column of a result file that has to be empty.
    Empty,
    /// The outcomes of a metric: none may be the failure of a program.
    Outcome,
}

impl Header {
    pub(super) fn new(
        names: IndexSet<String>,
        has_escapes: bool,
        selection: Option<&FieldSelection>,
    ) -> Self {
        let unescaped = |name: String| match has_escapes {
            true => formula::unescaped(&name).to_owned(),
            false => name,
        };
        let names: Vec<_> = names.into_iter().map(unescaped).collect();
        let column = |name: String| {
            let column = match name.split_once('.') {
                _ if name == "id" => Column::Id,
                Some(("gold", field)) => Column::Field(Side::Gold, field.to_owned()),
                Some(("pred", field)) => Column::Field(Side::Pred, field.to_owned()),
                _ => Column::Attribute,
            };
            (name, column)
        };
        let selected = selection.map(|selection| selection.columns(&names));
        let columns = names.into_iter().map(column).collect();
        let mut header = Self { columns, selected, targets: None, has_escapes };
        header.targets = selection.and_then(|selection| header.targets(selection));
        header
    }

    fn targets(&self, selection: &FieldSelection) -> Option<Vec<(usize, Target)>> {
        let names: HashSet<_> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let has = |name: &str| names.contains(name);
        let are_of_results = names.iter().any(|name| is_outcome(name, has));
        // Cells are strings, so a row has a value in every column.
        let has_required = selection.all_required(|side, field| has(&format!("{side}.{field}")));
        // Names may be equal without their apostrophes.
        if !has_required || names.len() < self.columns.len() {
            return None;
        }
        let attribute = |name: &str| {
            Some(match name.strip_prefix(ATTRIBUTES) {
                _ if !are_of_results => Target::Attribute(name.to_owned()),
                Some(name) => Target::Given(name.to_owned()),
                None if is_outcome(name, has) => Target::Outcome,
                None if is_of_row(name) => Target::Empty,
                None => return None,
            })
        };
        let target = |index: &usize| {
            let (name, column) = &self.columns[*index];
            let target = match column {
                Column::Id => Target::Id,
                Column::Field(Side::Gold, field) => {
                    Target::Gold(selection.field(Side::Gold, field)?)
                }
                Column::Field(Side::Pred, field) => {
                    Target::Pred(selection.field(Side::Pred, field)?)
                }
                Column::Attribute => attribute(name)?,
            };
            Some((*index, target))
        };
        let targets: Vec<_> = self.selected.as_ref()?.iter().filter_map(target).collect();
        let is_side = |(_, target): &_| matches!(target, Target::Gold(_) | Target::Pred(_));
        targets.iter().any(is_side).then_some(targets)
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

    fn record(&self, number: usize) -> Record<'_> {
        let Place { line, byte, cell } = self.records[number];
        let end = Place { line, byte: self.text_len, cell: self.cells };
        let end = self.records.get(number + 1).unwrap_or(&end);
        let (text, ends) = (&self.text[byte..end.byte], &self.ends[cell..end.cell]);
        Record { chunk: self, line, text, ends }
    }

    /// The first record, which there is.
    pub(super) fn first(&self) -> Record<'_> {
        self.record(0)
    }

    /// Calls a function with the records in order, as long as it returns true, and then with the error after them.
    pub(crate) fn each(mut self, mut read: impl FnMut(Result<Record<'_>, DataError>) -> bool) {
        let error = self.error.take();
        if (0..self.len()).all(|number| read(Ok(self.record(number))))
            && let Some(error) = error
        {
            read(Err(error));
        }
    }
}

impl Record<'_> {
    pub(crate) fn at(&self) -> Origin {
        Origin { file: Arc::clone(&self.chunk.file), line: self.line }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn range(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        start..self.ends[index]
    }

    fn unescaped<'t>(&self, text: &'t str) -> &'t str {
        if self.chunk.header.has_escapes { formula::unescaped(text) } else { text }
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

    /// Returns the row with all columns.
    pub(crate) fn row(&self) -> Result<LocatedRow, DataError> {
        let (expected, found) = (self.chunk.header.columns.len(), self.len());
        if expected != found {
            return Err(DataError::Ragged { at: self.at(), expected, found });
        }
        self.row_of(0..expected, |index, column| self.text(index, column))
    }

    /// Returns the row with the columns that the run reads; `None` if it reads all, or if the row is invalid.
    pub(crate) fn selected(&self) -> Option<LocatedRow> {
        let (selected, text) = (self.chunk.header.selected.as_ref()?, self.valid_text()?);
        let cell = |index, _: &str| Ok(self.unescaped(&text[self.range(index)]));
        self.row_of(selected.iter().copied(), cell).ok()
    }

    /// Reads the columns that the run reads in the memory of another row. Returns whether the record has an id, or `None` if
    /// the row may be invalid or of another kind.
    pub(crate) fn read_into(&self, row: &mut Pair) -> Option<bool> {
        let header = &self.chunk.header;
        let (targets, text) = (header.targets.as_ref()?, self.valid_text()?);
        let Pair { id, gold, pred, attributes, origin, run } = row;
        (*attributes, *run) = (Fields::default(), None);
        let (mut has_id, mut gold_len, mut pred_len) = (false, 0, 0);
        for (index, target) in targets {
            let cell = self.unescaped(&text[self.range(*index)]);
            match target {
                Target::Id => {
                    has_id = !cell.is_empty();
                    id.clear();
                    id.push_str(cell);
                }
                Target::Gold(name) => {
                    set(gold.data.rewrite(gold_len, name)?, cell);
                    gold_len += 1;
                }
                Target::Pred(name) => {
                    set(pred.data.rewrite(pred_len, name)?, cell);
                    pred_len += 1;
                }
                Target::Given(_) if cell.is_empty() => {}
                Target::Attribute(name) | Target::Given(name) => {
                    attributes.insert(name.as_str(), cell);
                }
                Target::Empty if cell.is_empty() => {}
                Target::Outcome if cell != PROGRAM_FAILED => {}
                Target::Empty | Target::Outcome => return None,
            }
        }
        gold.data.truncate(gold_len);
        pred.data.truncate(pred_len);
        for fields in [&mut gold.data, &mut pred.data, attributes] {
            fields.textual = true;
        }
        match origin {
            Some(at) if Arc::ptr_eq(&at.file, &self.chunk.file) => at.line = self.line,
            origin => *origin = Some(self.at()),
        }
        Some(has_id)
    }

    /// The cells, end to end, if they are valid and as many as the columns.
    fn valid_text(&self) -> Option<&str> {
        let text = simdutf8::basic::from_utf8(self.text).ok()?;
        // Two cells may share a character that neither of them has.
        let are_valid = self.ends.iter().all(|end| text.is_char_boundary(*end));
        (are_valid && self.len() == self.chunk.header.columns.len()).then_some(text)
    }

    fn row_of<'t>(
        &self,
        columns: impl Iterator<Item = usize>,
        cell: impl Fn(usize, &str) -> Result<&'t str, DataError>,
    ) -> Result<LocatedRow, DataError> {
        let mut row = RowObject { is_flat: true, ..RowObject::default() };
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for index in columns {
            let (name, column) = &self.chunk.header.columns[index];
            let text = cell(index, name)?;
            match column {
                Column::Id if text.is_empty() => {}
                Column::Id => row.id = Some(text.into()),
                Column::Field(Side::Gold, field) => _ = gold.insert(field, text),
                Column::Field(Side::Pred, field) => _ = pred.insert(field, text),
                Column::Attribute => _ = row.attributes.insert(name, text),
            }
        }
        row.gold = (!gold.is_empty()).then_some(Shape::Map(gold));
        row.pred = (!pred.is_empty()).then_some(Shape::Map(pred));
        row.attributes = row.attributes.textual();
        Ok(LocatedRow { row: Row::Map(row), at: self.at(), number: self.line })
    }
}

fn set(value: &mut Value, text: &str) {
    match value {
        Value::String(value) => {
            value.clear();
            value.push_str(text);
        }
        value => *value = text.into(),
    }
}
