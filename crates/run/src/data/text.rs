//! Rows of JSON text: the lines of a JSONL file, and the elements of the array of a JSON file.
//!
//! The first and last byte of each row are found in order; rows are parsed later, on any thread. Blank lines are
//! skipped; `\n` and `\r\n` both end a line.

use std::io::{self, BufRead};
use std::ops::Range;

use memchr::{memchr_iter, memrchr};

use super::error::{DataError, DataErrorKind, Read};
use super::input::Input;
use super::json::{self, Start};
use super::row::Row;
use super::selection::FieldSelection;
use crate::contract::Origin;

/// The maximum number of bytes read at once. Freeing 64 KiB or more makes glibc's allocator consolidate all of its
/// memory.
const READ: usize = 1 << 15;

/// The maximum number of array elements read at once.
const ELEMENTS: usize = 64;

/// Rows of JSON text.
#[derive(Default)]
pub(super) struct TextRows {
    bytes: Vec<u8>,
    rows: Vec<Place>,
    is_lines: bool,
    row_limit: usize,
    value_limit: usize,
}

/// The bytes of a row, with its line and its first byte in that line, counted from 1.
struct Place {
    bytes: Range<usize>,
    line: u64,
    column: usize,
}

impl TextRows {
    fn new(input: &Input, is_lines: bool) -> Self {
        Self {
            bytes: Vec::new(),
            rows: Vec::new(),
            is_lines,
            row_limit: input.row_limit,
            value_limit: input.value_limit(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.rows[row].line
    }

    /// Returns the text of a row, if it is valid UTF-8 and not longer than a row may be.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        let bytes = &self.bytes[self.rows[row].bytes.clone()];
        str::from_utf8(bytes)
            .ok()
            .filter(|text| text.len() <= self.row_limit)
    }

    /// Parses a row, or only its selected fields.
    pub(super) fn read(
        &self,
        row: usize,
        at: &Origin,
        selection: Option<&FieldSelection>,
    ) -> Result<Row, DataError> {
        let Place { bytes, column, .. } = &self.rows[row];
        let bytes = &self.bytes[bytes.clone()];
        if bytes.len() > self.row_limit {
            return Err(DataError::too_long(at, self.row_limit));
        }
        let selected = selection.and_then(|it| json::parse_selected(bytes, it, self.value_limit));
        if let Some(row) = selected {
            return Ok(row);
        }
        let start = Start {
            at,
            column: *column,
        };
        json::parse(bytes, start, self.value_limit).map_err(|error| {
            if self.is_lines {
                with_advice(error, bytes)
            } else {
                error
            }
        })
    }
}

/// Adds advice, because a value that does not end on its line is often one written across several lines.
fn with_advice(error: DataError, line: &[u8]) -> DataError {
    if error.kind() != DataErrorKind::CutOff {
        return error;
    }
    error.with_advice(match line.starts_with(b"[") {
        true => "; write one object per line, or name a file with one array of rows .json",
        false => "; write one object per line",
    })
}

/// The rows of a JSONL file.
pub(super) struct JsonLines {
    input: Input,
    /// The number of lines read so far.
    lines: u64,
    /// The start of the next line.
    rest: Vec<u8>,
}

impl JsonLines {
    pub(super) fn new(input: Input) -> Self {
        Self {
            input,
            lines: 0,
            rest: Vec::new(),
        }
    }

    /// Reads the next lines; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Option<Read<TextRows>> {
        let mut rows = TextRows::new(&self.input, true);
        match self.read() {
            Err(reason) => return Some((rows, Some(self.input.unreadable(&reason)))),
            Ok(bytes) if bytes.is_empty() => return None,
            Ok(bytes) => rows.bytes = bytes,
        }
        let mut start = 0;
        let ends = memchr_iter(b'\n', &rows.bytes).map(|end| end + 1);
        let is_unended = !rows.bytes.ends_with(b"\n");
        for end in ends.chain(is_unended.then_some(rows.bytes.len())) {
            self.lines += 1;
            let line = &rows.bytes[start..end];
            let text = match is_cut(line, rows.row_limit) {
                true => line,
                false => line.trim_ascii_end(),
            };
            if !text.is_empty() {
                rows.rows.push(Place {
                    bytes: start..start + text.len(),
                    line: self.lines,
                    column: 1,
                });
            }
            start = end;
        }
        Some((rows, None))
    }

    /// Reads at least one whole line, or more of a line than the row limit.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let start = bytes.len();
            let input = match self.input.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                input => input?,
            };
            if input.is_empty() {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&input[..input.len().min(READ)]);
            let read = bytes.len() - start;
            self.input.reader.consume(read);
            if let Some(end) = memrchr(b'\n', &bytes[start..]) {
                self.rest = bytes.split_off(start + end + 1);
                return Ok(bytes);
            }
            if is_cut(&bytes, self.input.row_limit) {
                return Ok(bytes);
            }
        }
    }
}

/// Returns `true` if a line with its end is longer than a row with `\r\n` may be.
fn is_cut(line: &[u8], row_limit: usize) -> bool {
    let limit = row_limit.saturating_add(1 + usize::from(line.ends_with(b"\n")));
    line.len() > limit
}

/// The rows of a JSON file.
pub(super) struct JsonArray {
    input: Input,
    /// The position of the next byte, with line and byte counted from 1.
    line: u64,
    column: usize,
    has_started: bool,
    has_ended: bool,
    /// The maximum number of rows read at once.
    at_once: usize,
}

impl JsonArray {
    pub(super) fn new(input: Input, is_stream: bool) -> Self {
        Self {
            input,
            line: 1,
            column: 1,
            has_started: false,
            has_ended: false,
            at_once: if is_stream { 1 } else { ELEMENTS },
        }
    }

    /// Reads the next rows; `None` at the end of the array or after an error.
    pub(super) fn next(&mut self) -> Option<Read<TextRows>> {
        if self.has_ended {
            return None;
        }
        let mut rows = TextRows::new(&self.input, false);
        let mut error = None;
        while !self.has_ended && rows.len() < self.at_once && rows.bytes.len() < READ {
            let element = self.find_element().and_then(|is_found| {
                if is_found {
                    self.element(&mut rows)
                } else {
                    Ok(false)
                }
            });
            match element {
                Ok(is_read) => self.has_ended = !is_read,
                Err(invalid) => {
                    self.has_ended = true;
                    error = Some(invalid);
                }
            }
        }
        (rows.len() > 0 || error.is_some()).then_some((rows, error))
    }

    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        match self.input.reader.fill_buf() {
            Ok(bytes) => Ok(bytes.first().copied()),
            Err(reason) => Err(self.input.unreadable(&reason)),
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

    /// Skips white space and returns the byte after it without consuming it.
    fn peek_token(&mut self) -> Result<Option<u8>, DataError> {
        loop {
            match self.peek()? {
                Some(byte) if byte.is_ascii_whitespace() => self.advance(byte),
                byte => return Ok(byte),
            }
        }
    }

    fn syntax(&self, reason: &str) -> DataError {
        DataError::syntax(&self.input.at(self.line), self.column, reason)
    }

    /// Moves to the first byte of the next element; returns `false` at the end of the array.
    fn find_element(&mut self) -> Result<bool, DataError> {
        let unclosed = "unclosed array of rows; expected `]`";
        let is_first = !self.has_started;
        if is_first {
            self.has_started = true;
            match self.peek_token()? {
                None => return Ok(false),
                Some(b'[') => self.advance(b'['),
                Some(byte) => return Err(self.not_array(byte)),
            }
        }
        match self.peek_token()? {
            None => Err(self.syntax(unclosed)),
            Some(b']') => self.end(),
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.advance(b',');
                match self.peek_token()? {
                    Some(b']') => Err(self.syntax("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.syntax(unclosed)),
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
        DataError::new(
            DataErrorKind::NotArray,
            format!(
                "{}: expected an array of rows, found {found}; if each line is an object, name the file .jsonl; if a field has \
                 the rows, write only its list, as `jq .FIELD` prints it",
                self.input.file.display()
            ),
        )
    }

    /// Reads the element that starts at the next byte.
    fn element(&mut self, rows: &mut TextRows) -> Result<bool, DataError> {
        let (line, column, start) = (self.line, self.column, rows.bytes.len());
        let mut extent = Extent::default();
        while let Some(byte) = self.peek()? {
            if extent.ends_before(byte) {
                break;
            }
            if rows.bytes.len() - start == rows.row_limit {
                return Err(DataError::too_long(&self.input.at(line), rows.row_limit));
            }
            rows.bytes.push(byte);
            self.advance(byte);
            if extent.ends_with(byte) {
                break;
            }
        }
        rows.rows.push(Place {
            bytes: start..rows.bytes.len(),
            line,
            column,
        });
        Ok(true)
    }
}

/// Finds the end of an element: its closing bracket, or for a value without brackets, the comma or bracket after it.
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
