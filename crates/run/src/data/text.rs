//! Rows of text: the lines of a JSONL file or of plain text, and the values of a JSON file.
//!
//! A JSON file contains an array of rows, several objects, an object of rows by id (also pandas' `index`), or pandas'
//! `split`. The first and last byte of each row are found in order; rows are parsed later, on any thread. Blank lines
//! are skipped; `\n` and `\r\n` both end a line.
//!
//! The file is long because the readers of lines and of JSON values share positions and limits.

use std::io::{self, BufRead};
use std::ops::Range;

use memchr::{memchr_iter, memrchr};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::{DataError, DataErrorKind, Read};
use super::input::Input;
use super::json::{self, Form, Start};
use super::row::RowObject;
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
    kind: Kind,
    row_limit: usize,
    value_limit: usize,
}

/// The kind of text that a row is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A line of JSON.
    #[default]
    Line,
    /// A JSON value, which can span several lines.
    Value,
    /// A line of plain text.
    Plain,
}

/// The bytes of a row, with its line and its first byte in that line, counted from 1.
struct Place {
    bytes: Range<usize>,
    line: u64,
    column: usize,
    /// The id, if the row is the value of a key.
    id: Option<Value>,
}

impl TextRows {
    fn new(input: &Input, kind: Kind) -> Self {
        Self {
            kind,
            row_limit: input.row_limit,
            value_limit: input.value_limit(),
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.rows[row].line
    }

    /// Returns the text of a row if it is a JSON object in valid UTF-8 and within the row limit.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        if self.kind == Kind::Plain || self.rows[row].id.is_some() {
            return None;
        }
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
    ) -> Result<RowObject, DataError> {
        let Place {
            bytes, column, id, ..
        } = &self.rows[row];
        let bytes = &self.bytes[bytes.clone()];
        if bytes.len() > self.row_limit {
            return Err(DataError::too_long(at, self.row_limit));
        }
        let start = Start {
            at,
            column: *column,
        };
        if self.kind == Kind::Plain {
            let text = json::text_from(bytes, start)?;
            return Ok(RowObject::of_value(text.into()));
        }
        let parse = || {
            let row = json::parse(bytes, start, self.value_limit);
            row.map_err(|error| match (self.kind, error.kind()) {
                // A value that does not end on its line is often one written across several lines.
                (Kind::Line, DataErrorKind::CutOff) => {
                    error.with_advice("; write one object per line")
                }
                _ => error,
            })
        };
        let selection = selection.filter(|_| id.is_none());
        let selected = selection.and_then(|it| json::parse_selected(bytes, it, self.value_limit));
        let mut object = selected.map_or_else(parse, Ok)?;
        match id {
            Some(id) => _ = object.id.get_or_insert_with(|| id.clone()),
            None => object.check_object(at)?,
        }
        Ok(object)
    }
}

/// Returns `true` if the rows of a JSONL file are not lines: the file is an array, or its objects have several lines.
pub(super) fn is_several_lines(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    let first = start.split(|byte| *byte == b'\n').next();
    start.starts_with(b"[")
        || start.trim_ascii() != b"{" && first.is_some_and(|it| it.trim_ascii() == b"{")
}

/// The rows of a file of lines.
pub(super) struct TextLines {
    input: Input,
    kind: Kind,
    /// The number of lines read so far.
    lines: u64,
    /// The start of the next line.
    rest: Vec<u8>,
}

impl TextLines {
    pub(super) fn new(input: Input, kind: Kind) -> Self {
        Self {
            input,
            kind,
            lines: 0,
            rest: Vec::new(),
        }
    }

    /// Reads the next lines. Returns `None` at the end of the file.
    pub(super) fn next(&mut self) -> Option<Read<TextRows>> {
        let mut rows = TextRows::new(&self.input, self.kind);
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
            let text = match self.kind {
                _ if is_cut(line, rows.row_limit) => line,
                Kind::Plain => {
                    let line = line.strip_suffix(b"\n").unwrap_or(line);
                    line.strip_suffix(b"\r").unwrap_or(line)
                }
                _ => line.trim_ascii_end(),
            };
            if !text.is_empty() || self.kind == Kind::Plain {
                rows.rows.push(Place {
                    bytes: start..start + text.len(),
                    line: self.lines,
                    column: 1,
                    id: None,
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

/// Returns `true` if a line, including its line break, is longer than the longest row with `\r\n`.
fn is_cut(line: &[u8], row_limit: usize) -> bool {
    let limit = row_limit.saturating_add(1 + usize::from(line.ends_with(b"\n")));
    line.len() > limit
}

/// The rows of a JSON file.
pub(super) struct JsonValues {
    input: Input,
    /// The position of the next byte, with line and byte counted from 1.
    line: u64,
    column: usize,
    /// What the file contains, or `None` before its first byte is read.
    form: Option<Form>,
    is_first: bool,
    has_ended: bool,
    /// The maximum number of rows read at once.
    at_once: usize,
}

/// The object that pandas writes with `orient="split"`. It is read as one row, so the row limit applies to the whole
/// object.
#[derive(Deserialize)]
struct SplitRows {
    columns: Vec<String>,
    #[serde(default)]
    index: Vec<Value>,
    data: Vec<Vec<Value>>,
}

impl JsonValues {
    pub(super) fn new(input: Input, is_stream: bool) -> Self {
        Self {
            input,
            line: 1,
            column: 1,
            form: None,
            is_first: true,
            has_ended: false,
            at_once: if is_stream { 1 } else { ELEMENTS },
        }
    }

    /// Reads the next rows. Returns `None` at the end of the file or after an error.
    pub(super) fn next(&mut self) -> Option<Read<TextRows>> {
        if self.has_ended {
            return None;
        }
        let mut rows = TextRows::new(&self.input, Kind::Value);
        let mut error = None;
        while !self.has_ended && rows.len() < self.at_once && rows.bytes.len() < READ {
            let read = self.read(&mut rows);
            self.has_ended = !matches!(read, Ok(true));
            error = read.err();
        }
        (rows.len() > 0 || error.is_some()).then_some((rows, error))
    }

    /// Reads the next rows. Returns `false` at the end of the file.
    fn read(&mut self, rows: &mut TextRows) -> Result<bool, DataError> {
        let Some(form) = self.find_form()? else {
            return Ok(false);
        };
        if form == Form::Split {
            return self.split(rows).map(|()| false);
        }
        if !self.find_element(form)? {
            return Ok(false);
        }
        let id = match form {
            Form::Entries => Some(self.key()?.into()),
            _ => None,
        };
        let start = rows.bytes.len();
        self.element(rows, id)?;
        let list = rows.bytes[start..].strip_prefix(b"[");
        // An object with a list of objects has its rows in a field.
        if form == Form::Entries && list.is_some_and(|it| it.trim_ascii_start().starts_with(b"{")) {
            return Err(self.not_array(b'{'));
        }
        Ok(true)
    }

    /// Determines what the file contains from its first value. Returns `None` if the file is empty.
    fn find_form(&mut self) -> Result<Option<Form>, DataError> {
        if self.form.is_some() {
            return Ok(self.form);
        }
        let form = match self.peek_token()? {
            None => return Ok(None),
            Some(b'[') => Form::Array,
            Some(b'{') => {
                let form = json::form_of_object(self.input.fill()?);
                form.ok_or_else(|| self.not_array(b'{'))?
            }
            Some(byte) => return Err(self.not_array(byte)),
        };
        match form {
            Form::Array => self.advance(b'['),
            Form::Entries => self.advance(b'{'),
            Form::Values | Form::Split => {}
        }
        self.form = Some(form);
        Ok(self.form)
    }

    /// Reads all rows of an object with `columns`, `index` and `data`.
    fn split(&mut self, rows: &mut TextRows) -> Result<(), DataError> {
        let (line, mut whole) = (self.line, TextRows::new(&self.input, Kind::Value));
        self.element(&mut whole, None)?;
        let invalid = |reason: String| DataError::invalid(&self.input.at(line), reason);
        let split: SplitRows = serde_json::from_slice(&whole.bytes)
            .map_err(|error| invalid(format!("expected `columns`, `index` and `data`: {error}")))?;
        let mut index = split.index.into_iter();
        for cells in split.data {
            let (expected, found) = (split.columns.len(), cells.len());
            if expected != found {
                return Err(invalid(format!(
                    "expected {expected} values in each list in `data`, one per column, found {found}; write a value for each column"
                )));
            }
            let row: Map<_, _> = split.columns.iter().cloned().zip(cells).collect();
            let start = rows.bytes.len();
            rows.bytes.extend(Value::Object(row).to_string().bytes());
            rows.rows.push(Place {
                bytes: start..rows.bytes.len(),
                line,
                column: 1,
                id: index.next(),
            });
        }
        Ok(())
    }

    /// Reads a key and the colon after it, up to the value.
    fn key(&mut self) -> Result<String, DataError> {
        self.peek_token()?;
        let mut key = TextRows::new(&self.input, Kind::Value);
        self.element(&mut key, None)?;
        let name = serde_json::from_slice(&key.bytes);
        let expected = "expected a key in quotes and a colon";
        let name = name.map_err(|_| self.syntax(expected))?;
        match self.peek()? {
            None => return Ok(name),
            Some(b':') => self.advance(b':'),
            Some(_) => return Err(self.syntax(expected)),
        }
        self.peek_token()?;
        Ok(name)
    }

    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        Ok(self.input.fill()?.first().copied())
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

    /// Moves to the first byte of the next element. Returns `false` at the end of the array.
    fn find_element(&mut self, form: Form) -> Result<bool, DataError> {
        let is_first = std::mem::take(&mut self.is_first);
        let (closing, unclosed) = match form {
            Form::Values => return Ok(self.peek_token()?.is_some()),
            Form::Entries => (b'}', "unclosed object of rows; expected `}`"),
            Form::Array | Form::Split => (b']', "unclosed array of rows; expected `]`"),
        };
        match self.peek_token()? {
            None => Err(self.syntax(unclosed)),
            Some(byte) if byte == closing => self.end(closing),
            Some(_) if is_first => Ok(true),
            Some(b',') => {
                self.advance(b',');
                match self.peek_token()? {
                    Some(byte) if byte == closing => Err(self.syntax("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.syntax(unclosed)),
                }
            }
            Some(_) if closing == b']' => Err(self.syntax("expected `,` or `]`")),
            Some(_) => Err(self.syntax("expected `,` or `}`")),
        }
    }

    fn end(&mut self, closing: u8) -> Result<bool, DataError> {
        self.advance(closing);
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
                "{}: expected an array of rows, found {found}; if each line is an object, rename it to .jsonl; if a field has \
                 the rows, write only its list, as `jq .FIELD` prints it",
                self.input.file.display()
            ),
        )
    }

    /// Reads the element that starts at the next byte.
    fn element(&mut self, rows: &mut TextRows, id: Option<Value>) -> Result<(), DataError> {
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
            id,
        });
        Ok(())
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
        self.depth == 0 && !self.in_string && matches!(byte, b',' | b':' | b']' | b'}')
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
