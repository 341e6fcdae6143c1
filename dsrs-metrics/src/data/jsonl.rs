//! JSONL: one row a line. Lines of white space are passed over, `\n` and `\r\n` both end a line.
//!
//! How bytes become a [`Row`], with messages that count lines and bytes in the file, is here for
//! JSON files too.

use std::io::{self, BufRead, Read};

use super::row::Row;
use super::{DataError, OpenInput, integers};
use crate::core::rows::pair::Origin;

/// Kept between rows; what a longer row needed is given back.
const KEPT: usize = 1 << 20;

pub(super) struct Lines {
    input: OpenInput,
    line: u64,
    buffer: Vec<u8>,
}

impl Lines {
    pub(super) fn new(input: OpenInput) -> Self {
        Self { input, line: 0, buffer: Vec::new() }
    }

    /// Reads a line, or nothing at the end of the file.
    fn read_line(&mut self) -> io::Result<usize> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT);
        self.line += 1;
        let one_more = self.input.row_limit as u64 + 1;
        let mut limited = (&mut self.input.reader).take(one_more);
        limited.read_until(b'\n', &mut self.buffer)
    }

    fn row(&self) -> Result<Row, DataError> {
        let at = self.input.at(self.line);
        let text = self.buffer.trim_ascii_end();
        if text.len() > self.input.row_limit {
            let limit = self.input.row_limit;
            return Err(DataError::TooLong { at, limit });
        }
        parse(text, &at, 1)
    }
}

impl Iterator for Lines {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read_line() {
                Err(reason) => return Some(Err(self.input.unreadable(reason))),
                Ok(0) => return None,
                Ok(_) if self.buffer.trim_ascii().is_empty() => {}
                Ok(_) => return Some(self.row().map(|row| (row, self.line))),
            }
        }
    }
}

/// The row in `bytes`, which begin in the line `at` with its byte `column`, counted from 1.
pub(super) fn parse(bytes: &[u8], at: &Origin, column: usize) -> Result<Row, DataError> {
    let text = str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error, at, column))?;
    let row = serde_json::from_str(text).map_err(|error| not_json(&error, at, column))?;
    match integers::find_lossy(&row, text) {
        None => Ok(row),
        Some(start) => {
            let (at, column) = place_of(bytes, start, at, column);
            Err(DataError::LongInteger { at, column })
        }
    }
}

fn not_utf8(bytes: &[u8], error: std::str::Utf8Error, at: &Origin, column: usize) -> DataError {
    let (at, byte) = place_of(bytes, error.valid_up_to(), at, column);
    let found = bytes[error.valid_up_to()];
    DataError::NotUtf8 { at, byte, found }
}

fn not_json(error: &serde_json::Error, at: &Origin, column: usize) -> DataError {
    let text = error.to_string();
    let (at, column) = place(at, column, error.line(), error.column());
    if text.starts_with("recursion limit exceeded") {
        return DataError::TooDeep { at };
    }
    let reason = match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    };
    DataError::Syntax { at, column, reason }
}

/// The place in the file of a byte of the row, from 0.
fn place_of(bytes: &[u8], start: usize, at: &Origin, column: usize) -> (Origin, usize) {
    let before = &bytes[..start];
    let lines = before.split(|byte| *byte == b'\n').count();
    let in_line = before.rsplit(|byte| *byte == b'\n').next();
    place(at, column, lines, in_line.map_or(0, <[u8]>::len) + 1)
}

/// The place in the file of a line and a byte of the row, each from 1.
fn place(at: &Origin, column: usize, line: usize, byte: usize) -> (Origin, usize) {
    let later = line.saturating_sub(1);
    let byte = if later == 0 { column - 1 + byte } else { byte };
    let at = Origin { file: at.file.clone(), line: at.line + later as u64 };
    (at, byte)
}
