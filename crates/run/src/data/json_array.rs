//! JSON: one array of rows, read one element at a time.
//!
//! Finds the first and last byte of each element; `json_row.rs` parses it.

use std::io::BufRead;

use super::error::DataError;
use super::input::Input;
use super::json_row;
use super::row::{LocatedRow, Row};
use crate::core::rows::pair::Origin;

/// The capacity that the buffer keeps between rows; the memory of longer rows is freed.
const KEPT_CAPACITY: usize = 1 << 20;

/// The rows of a JSON file.
pub(super) struct JsonArray {
    input: Input,
    /// The position of the next byte, each counted from 1.
    line: u64,
    column: usize,
    started: bool,
    buffer: Vec<u8>,
    /// The number of rows read so far.
    rows: u64,
    has_ended: bool,
}

impl JsonArray {
    pub(super) fn new(input: Input) -> Self {
        let (rows, has_ended) = (0, false);
        Self {
            input,
            line: 1,
            column: 1,
            started: false,
            buffer: Vec::new(),
            rows,
            has_ended,
        }
    }

    /// Reads at most this number of rows, up to the first error; `None` at the end of the array, and after an error.
    pub(super) fn next_chunk(&mut self, most: usize) -> Option<Vec<Result<LocatedRow, DataError>>> {
        let mut chunk = Vec::new();
        while !self.has_ended && chunk.len() < most {
            let row = self.next_row().transpose();
            self.has_ended = row.as_ref().is_none_or(Result::is_err);
            chunk.extend(row);
        }
        (!chunk.is_empty()).then_some(chunk)
    }

    fn next_row(&mut self) -> Result<Option<LocatedRow>, DataError> {
        if !self.find_element()? {
            return Ok(None);
        }
        let (row, at) = self.element()?;
        self.rows += 1;
        Ok(Some(LocatedRow {
            row,
            at,
            number: self.rows,
        }))
    }

    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        match self.input.reader.fill_buf() {
            Ok(bytes) => Ok(bytes.first().copied()),
            Err(reason) => Err(self.input.unreadable(reason)),
        }
    }

    /// Consumes the byte that was peeked.
    fn advance(&mut self, byte: u8) {
        self.input.reader.consume(1);
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
    }

    /// Skips white space and returns the byte after it, which is not consumed.
    fn peek_token(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.advance(byte),
                byte => return Ok(byte),
            }
        }
    }

    fn at(&self) -> Origin {
        self.input.at(self.line)
    }

    fn syntax(&self, reason: &str) -> DataError {
        DataError::Syntax {
            at: self.at(),
            column: self.column,
            reason: reason.to_owned(),
        }
    }

    fn unclosed(&self) -> DataError {
        self.syntax("unclosed array of rows; expected `]`")
    }

    /// Moves to the first byte of the next element; `false` at the end of the array.
    fn find_element(&mut self) -> Result<bool, DataError> {
        let first = !self.started;
        if first {
            self.started = true;
            match self.peek_token()? {
                None => return Ok(false),
                Some(b'[') => self.advance(b'['),
                Some(byte) => return Err(self.not_array(byte)),
            }
        }
        match self.peek_token()? {
            None => Err(self.unclosed()),
            Some(b']') => self.end(),
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.advance(b',');
                match self.peek_token()? {
                    Some(b']') => Err(self.syntax("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.unclosed()),
                }
            }
            Some(_) => Err(self.syntax("expected `,` or `]`")),
        }
    }

    fn end(&mut self) -> Result<bool, DataError> {
        self.advance(b']');
        match self.peek_token()? {
            None => Ok(false),
            Some(_) => Err(self.syntax("trailing characters after the array of rows")),
        }
    }

    fn not_array(&self, byte: u8) -> DataError {
        let found = match byte {
            b'{' => "an object".to_owned(),
            b'"' => "a string".to_owned(),
            byte => format!("`{}`", byte.escape_ascii()),
        };
        let file = self.input.file.to_path_buf();
        DataError::NotArray { file, found }
    }

    /// Reads the element that starts at the next byte.
    fn element(&mut self) -> Result<(Row, Origin), DataError> {
        let (at, column) = (self.at(), self.column);
        self.buffer.clear();
        let mut extent = Extent::default();
        while let Some(byte) = self.peek()? {
            if extent.ends_before(byte) {
                break;
            }
            if self.buffer.len() == self.input.row_limit {
                let limit = self.input.row_limit;
                return Err(DataError::TooLong { at, limit });
            }
            self.buffer.push(byte);
            self.advance(byte);
            if extent.ends_with(byte) {
                break;
            }
        }
        let row = json_row::parse(&self.buffer, &at, column, self.input.value_limit())?;
        self.buffer.shrink_to(KEPT_CAPACITY);
        Ok((row, at))
    }
}

/// Finds the end of an element: its closing bracket, or the comma or bracket after a value without
/// brackets.
#[derive(Default)]
struct Extent {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Extent {
    fn ends_before(&self, byte: u8) -> bool {
        self.depth == 0 && !self.in_string && matches!(byte, b',' | b']' | b'}')
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.depth == 0;
            }
            _ => {}
        }
        false
    }
}
