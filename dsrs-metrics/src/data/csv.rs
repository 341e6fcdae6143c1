//! CSV: a header of column names, then one row a record.
//!
//! A column called `gold.answer` is the field `answer` of the gold example, `pred.answer` one of the
//! prediction, `id` the id; every other column is an attribute. Cells are text, and the row says so.

use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};
use serde_json::Value;

use super::row::{Object, Row, Shape};
use super::{DataError, OpenInput};
use crate::row::Fields;
use crate::spec::Side;

const BUFFER: usize = 1 << 16;

pub(super) struct Records {
    input: OpenInput,
    reader: csv::Reader<Limited>,
    columns: Vec<(String, Column)>,
    record: ByteRecord,
}

enum Column {
    Id,
    Field(Side, String),
    Attribute,
}

impl Records {
    pub(super) fn new(mut input: OpenInput) -> Result<Self, DataError> {
        let limit = limit(&input);
        let reader = std::mem::replace(&mut input.reader, Box::new(io::empty()));
        let limited = Limited { reader, left: limit };
        let mut records = Self {
            reader: ReaderBuilder::new()
                .has_headers(false)
                .buffer_capacity(BUFFER)
                .from_reader(limited),
            columns: Vec::new(),
            record: ByteRecord::new(),
            input,
        };
        if records.read(0)? {
            records.columns = records.header()?;
        }
        Ok(records)
    }

    /// Reads a record; `false` at the end of the file.
    fn read(&mut self, before: u64) -> Result<bool, DataError> {
        self.reader.get_mut().left = limit(&self.input);
        let read = self.reader.read_byte_record(&mut self.record);
        read.map_err(|error| self.bad_record(error, before))
    }

    fn bad_record(&self, error: csv::Error, before: u64) -> DataError {
        let line = error.position().map_or(before + 1, csv::Position::line);
        let at = self.input.at(line);
        match error.into_kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                DataError::Ragged { at, expected: expected_len, found: len }
            }
            csv::ErrorKind::Io(reason) if reason.kind() == io::ErrorKind::FileTooLarge => {
                let limit = self.input.row_limit;
                DataError::TooLong { at, limit }
            }
            csv::ErrorKind::Io(reason) => self.input.unreadable(reason),
            other => self.input.unreadable(io::Error::other(format!("{other:?}"))),
        }
    }

    fn line(&self) -> u64 {
        self.record.position().map_or(0, csv::Position::line)
    }

    fn text(&self, index: usize, column: &str) -> Result<String, DataError> {
        let cell = self.record.get(index).unwrap_or_default();
        match str::from_utf8(cell) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => Err(DataError::CellNotUtf8 {
                at: self.input.at(self.line()),
                column: column.to_owned(),
                byte: error.valid_up_to() + 1,
                found: cell[error.valid_up_to()],
            }),
        }
    }

    fn header(&self) -> Result<Vec<(String, Column)>, DataError> {
        let mut columns: Vec<(String, Column)> = Vec::with_capacity(self.record.len());
        for index in 0..self.record.len() {
            let name = self.text(index, &format!("{}", index + 1))?;
            if columns.iter().any(|(other, _)| *other == name) {
                let at = self.input.at(self.line());
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
        let mut row = Object::default();
        let mut gold = Fields::default();
        let mut pred = Fields::default();
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

impl Iterator for Records {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let before = self.line();
        match self.read(before) {
            Ok(true) => Some(self.row().map(|row| (row, self.line()))),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The buffer is filled ahead of the record, so the limit is one of what is read for it.
fn limit(input: &OpenInput) -> u64 {
    (input.row_limit + BUFFER) as u64
}

/// Ends a record that reads on and on, as one with an unclosed quote does.
struct Limited {
    reader: Box<dyn io::BufRead + Send>,
    left: u64,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        let over = || io::Error::from(io::ErrorKind::FileTooLarge);
        self.left = self.left.checked_sub(read as u64).ok_or_else(over)?;
        Ok(read)
    }
}
