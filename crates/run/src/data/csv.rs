//! CSV: a header of column names, then one record per row.
//!
//! The column `gold.answer` is the field `answer` of the gold row, `pred.answer` one of the
//! prediction, `id` the id; every other column is an attribute. Cells are strings, and the row is
//! marked as textual. In a result file, strings that a spreadsheet would evaluate have a leading
//! apostrophe, which is removed.
//!
//! `csv_core` splits records and leaves counting lines and bounding memory to its caller. Both are
//! needed here: an error must name the right line, and an unclosed quote must not read the whole
//! file into memory.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader};
use indexmap::IndexSet;
use serde_json::Value;

use super::error::DataError;
use super::input::{Apostrophes, Input};
use super::row::{Row, RowObject, check_sides};
use crate::core::rows::dynamic::Fields;
use crate::core::spec::Side;
use crate::json::unique_keys::Shape;
use crate::messages::formula;

/// The most columns: their names are copied into every row.
const MAX_COLUMNS: usize = 1_000_000;

/// The separators of other programs.
const OTHER_DELIMITERS: [char; 2] = [';', '\t'];

/// The capacity that the buffer keeps between rows; the memory of longer rows is freed.
const KEPT_CAPACITY: usize = 1 << 20;

/// The rows of a CSV file.
pub(super) struct CsvRecords {
    input: Input,
    columns: Vec<(String, Column)>,
    record: Record,
    /// The line of the next byte, counted from 1.
    line: u64,
    /// Whether strings have the apostrophe before formulas that result files have.
    has_escapes: bool,
}

enum Column {
    Id,
    Field(Side, String),
    Attribute,
}

/// The cells of one record, end to end.
struct Record {
    parser: Reader,
    /// Its first line, counted from 1.
    line: u64,
    text: Vec<u8>,
    text_len: usize,
    /// Where each cell ends in `text`.
    ends: Vec<usize>,
    cells: usize,
}

impl Record {
    fn new() -> Self {
        let (text, ends) = (Vec::new(), Vec::new());
        // `Reader::default()` has no separators, `Reader::new()` has the separators of CSV.
        let mut parser = Reader::new();
        // An empty line as the first input, from which the parser removes a byte order mark. The byte order mark of the
        // file is already removed; another one is data. A first input with nothing else would look like the end.
        parser.read_record(b"\n", &mut [], &mut []);
        Self { parser, line: 0, text, text_len: 0, ends, cells: 0 }
    }

    fn cell(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |previous| self.ends[previous]);
        &self.text[start..self.ends[index]]
    }
}

impl CsvRecords {
    /// Reads the header. Formulas are unescaped if the file is a result file, whatever `apostrophes` is.
    pub(super) fn new(input: Input, apostrophes: Apostrophes) -> Result<Self, DataError> {
        let record = Record::new();
        let mut records = Self { input, columns: Vec::new(), record, line: 1, has_escapes: false };
        if records.read()? {
            let names = records.names()?;
            let are_of_results = are_of_results(&names);
            // Some rows of a result file may have fields, and others another value.
            if !are_of_results {
                check_sides(
                    names.iter().map(String::as_str),
                    &records.input.at(records.record.line),
                )?;
            }
            records.has_escapes = apostrophes == Apostrophes::Escapes || are_of_results;
            records.columns = names.iter().map(|name| records.column(name)).collect();
        }
        Ok(records)
    }

    /// Reads the next record; `false` at the end of the file.
    fn read(&mut self) -> Result<bool, DataError> {
        self.skip_line_ends()?;
        let record = &mut self.record;
        (record.line, record.text_len, record.cells) = (self.line, 0, 0);
        record.text.truncate(KEPT_CAPACITY);
        record.text.shrink_to(KEPT_CAPACITY);
        let mut started = false;
        loop {
            let input = match self.input.reader.fill_buf() {
                Ok(input) => input,
                Err(reason) => return Err(self.input.unreadable(reason)),
            };
            // At the end of the input the parser ends any cell, even one with an unclosed quote. A
            // line break ends only a cell without one, so that the unclosed quote is detected.
            let at_end = input.is_empty() && started;
            let input = if at_end { b"\n" } else { input };
            started = true;
            let text = &mut record.text[record.text_len..];
            let ends = &mut record.ends[record.cells..];
            let (result, read, written, ended) = record.parser.read_record(input, text, ends);
            if !at_end {
                self.line += input[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
                self.input.reader.consume(read);
            }
            record.text_len += written;
            record.cells += ended;
            // Empty cells have no text, but a separator each.
            if record.text_len > self.input.row_limit
                || record.cells > self.input.row_limit.saturating_add(1)
            {
                let (at, limit) = (self.input.at(record.line), self.input.row_limit);
                return Err(DataError::TooLong { at, limit });
            }
            if record.cells > MAX_COLUMNS {
                let at = self.input.at(record.line);
                return Err(DataError::TooManyColumns { at, limit: MAX_COLUMNS });
            }
            match result {
                ReadRecordResult::InputEmpty if at_end => {
                    return Err(DataError::UnclosedQuote { at: self.input.at(record.line) });
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => record.text.resize(grown(record.text.len()), 0),
                ReadRecordResult::OutputEndsFull => record.ends.resize(grown(record.ends.len()), 0),
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Skips the rest of a `\r\n`, and empty lines.
    fn skip_line_ends(&mut self) -> Result<(), DataError> {
        loop {
            let byte = match self.input.reader.fill_buf() {
                Ok(input) => input.first().copied(),
                Err(reason) => return Err(self.input.unreadable(reason)),
            };
            match byte {
                Some(b'\n') => self.line += 1,
                Some(b'\r') => {}
                _ => return Ok(()),
            }
            self.input.reader.consume(1);
        }
    }

    /// The cell as a string; `column` names it in an error.
    fn text(&self, index: usize, column: &str) -> Result<String, DataError> {
        let cell = self.record.cell(index);
        match str::from_utf8(cell) {
            Ok(text) => Ok(self.unescaped(text).to_owned()),
            Err(error) => Err(DataError::CellNotUtf8 {
                at: self.input.at(self.record.line),
                column: column.to_owned(),
                byte: error.valid_up_to() + 1,
                found: cell[error.valid_up_to()],
            }),
        }
    }

    fn unescaped<'t>(&self, text: &'t str) -> &'t str {
        if self.has_escapes { formula::unescaped(text) } else { text }
    }

    /// The names of the header as they are written.
    fn names(&self) -> Result<IndexSet<String>, DataError> {
        let at = || self.input.at(self.record.line);
        let mut names = IndexSet::with_capacity(self.record.cells);
        for index in 0..self.record.cells {
            let name = self.text(index, &format!("{}", index + 1))?;
            let other = name.chars().find(|character| OTHER_DELIMITERS.contains(character));
            if let Some(found) = other.filter(|_| self.record.cells == 1) {
                return Err(DataError::Delimiter { at: at(), found });
            }
            if !names.insert(name.clone()) {
                return Err(DataError::DuplicateColumn { at: at(), column: name });
            }
        }
        Ok(names)
    }

    fn column(&self, name: &str) -> (String, Column) {
        let name = self.unescaped(name);
        let column = match name.split_once('.') {
            _ if name == "id" => Column::Id,
            Some(("gold", field)) => Column::Field(Side::Gold, field.to_owned()),
            Some(("pred", field)) => Column::Field(Side::Pred, field.to_owned()),
            _ => Column::Attribute,
        };
        (name.to_owned(), column)
    }

    fn row(&self) -> Result<Row, DataError> {
        let (expected, found) = (self.columns.len(), self.record.cells);
        if expected != found {
            let at = self.input.at(self.record.line);
            return Err(DataError::Ragged { at, expected, found });
        }
        let mut row = RowObject { is_flat: true, ..RowObject::default() };
        let (mut gold, mut pred) = (Fields::default(), Fields::default());
        for (index, (name, column)) in self.columns.iter().enumerate() {
            let text = self.text(index, name)?;
            match column {
                Column::Id if text.is_empty() => {}
                Column::Id => row.id = Some(text.into()),
                Column::Field(Side::Gold, field) => _ = gold.insert(field, text),
                Column::Field(Side::Pred, field) => _ = pred.insert(field, text),
                Column::Attribute => _ = row.attributes.insert(name, Value::String(text)),
            }
        }
        row.gold = (!gold.is_empty()).then_some(Shape::Map(gold));
        row.pred = (!pred.is_empty()).then_some(Shape::Map(pred));
        row.attributes = row.attributes.textual();
        Ok(Row::Map(row))
    }
}

/// Whether these are columns of a result file: `id`, and of a metric its value, `NAME.outcome` and `NAME.cost_msats`.
pub(super) fn are_of_results(names: &IndexSet<String>) -> bool {
    let is_metric =
        |name: &str| names.contains(name) && names.contains(&format!("{name}.cost_msats"));
    names.contains("id")
        && names.iter().filter_map(|name| name.strip_suffix(".outcome")).any(is_metric)
}

fn grown(length: usize) -> usize {
    (2 * length).max(64)
}

impl Iterator for CsvRecords {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(true) => Some(self.row().map(|row| (row, self.record.line))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
