//! CSV: a header of column names, then one row a record.
//!
//! A column called `gold.answer` is the field `answer` of the gold example, `pred.answer` one of the
//! prediction, `id` the id; every other column is an attribute. Cells are text, and the row says so.
//!
//! Records are told apart by `csv_core`, which leaves counting lines and bounding memory to its
//! caller: a message must name the right line, and an unclosed quote must not read the whole file.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader};
use serde_json::Value;

use super::row::{Object, Row};
use super::{DataError, OpenInput};
use crate::core::rows::dynamic::Fields;
use crate::core::spec::Side;
use crate::json::unique_keys::Shape;

pub(super) struct Records {
    input: OpenInput,
    columns: Vec<(String, Column)>,
    record: Record,
    /// The line at which the input stands.
    line: u64,
}

enum Column {
    Id,
    Field(Side, String),
    Attribute,
}

/// The cells of one record, end to end.
struct Record {
    parser: Reader,
    /// Where it begins.
    line: u64,
    text: Vec<u8>,
    text_len: usize,
    ends: Vec<usize>,
    cells: usize,
}

impl Record {
    fn new() -> Self {
        let (text, ends) = (Vec::new(), Vec::new());
        // The parser's `Default` knows of no separators.
        Self { parser: Reader::new(), line: 0, text, text_len: 0, ends, cells: 0 }
    }

    fn cell(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[index]]
    }
}

impl Records {
    pub(super) fn new(input: OpenInput) -> Result<Self, DataError> {
        let mut records = Self { input, columns: Vec::new(), record: Record::new(), line: 1 };
        if records.read()? {
            records.columns = records.header()?;
        }
        Ok(records)
    }

    /// Reads a record; `false` at the end of the file.
    fn read(&mut self) -> Result<bool, DataError> {
        self.skip_line_ends()?;
        let record = &mut self.record;
        (record.line, record.text_len, record.cells) = (self.line, 0, 0);
        record.text.truncate(1 << 20);
        record.text.shrink_to(1 << 20);
        let mut begun = false;
        loop {
            let input = match self.input.reader.fill_buf() {
                Ok(input) => input,
                Err(reason) => return Err(self.input.unreadable(reason)),
            };
            // The parser takes the end of the file for the end of any cell, but a line break only for
            // that of a cell without open quote.
            let at_end = input.is_empty() && begun;
            let input = if at_end { b"\n" } else { input };
            begun = true;
            let text = &mut record.text[record.text_len..];
            let ends = &mut record.ends[record.cells..];
            let (result, read, written, ended) = record.parser.read_record(input, text, ends);
            if !at_end {
                self.line += input[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
                self.input.reader.consume(read);
            }
            record.text_len += written;
            record.cells += ended;
            if record.text_len > self.input.row_limit {
                let (at, limit) = (self.input.at(record.line), self.input.row_limit);
                return Err(DataError::TooLong { at, limit });
            }
            match result {
                ReadRecordResult::InputEmpty if at_end => {
                    return Err(DataError::Unclosed { at: self.input.at(record.line) });
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => record.text.resize(grown(record.text.len()), 0),
                ReadRecordResult::OutputEndsFull => record.ends.resize(grown(record.ends.len()), 0),
                ReadRecordResult::Record => return Ok(true),
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Passes over the rest of a `\r\n` and over empty lines.
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

    fn text(&self, index: usize, column: &str) -> Result<String, DataError> {
        let cell = self.record.cell(index);
        match str::from_utf8(cell) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(DataError::CellNotUtf8 {
                at: self.input.at(self.record.line),
                column: column.to_owned(),
                byte: error.valid_up_to() + 1,
                found: cell[error.valid_up_to()],
            }),
        }
    }

    fn header(&self) -> Result<Vec<(String, Column)>, DataError> {
        let mut columns: Vec<(String, Column)> = Vec::with_capacity(self.record.cells);
        for index in 0..self.record.cells {
            let name = self.text(index, &format!("{}", index + 1))?;
            if columns.iter().any(|(other, _)| *other == name) {
                let at = self.input.at(self.record.line);
                return Err(DataError::DuplicateColumn { at, column: name });
            }
            let column = match name.split_once('.') {
                _ if name == "id" => Column::Id,
                Some(("gold", field)) => Column::Field(Side::Gold, field.to_owned()),
                Some(("pred", field)) => Column::Field(Side::Pred, field.to_owned()),
                _ => Column::Attribute,
            };
            columns.push((name, column));
        }
        Ok(columns)
    }

    fn row(&self) -> Result<Row, DataError> {
        let (expected, found) = (self.columns.len(), self.record.cells);
        if expected != found {
            let at = self.input.at(self.record.line);
            return Err(DataError::Ragged { at, expected, found });
        }
        let mut row = Object::default();
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

fn grown(length: usize) -> usize {
    (2 * length).max(64)
}

impl Iterator for Records {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Ok(true) => Some(self.row().map(|row| (row, self.record.line))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
