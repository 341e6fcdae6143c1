//! JSONL: one row per line. Lines of white space are skipped; `\n` and `\r\n` both end a line.
//!
//! Whole lines are read in chunks, which can be decoded on any thread.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memchr::{memchr_iter, memrchr};

use super::error::DataError;
use super::input::Input;
use super::json_row;
use super::row::LocatedRow;
use super::selection::{DecodedKeys, FieldSelection};
use super::undecoded_row::UndecodedRow;
use crate::core::rows::pair::{Origin, Pair};
use crate::json::scanner::Scanner;

/// The most bytes that are read at once.
const READ: usize = 1 << 16;

/// The rows of a JSONL file.
pub(super) struct JsonLines {
    input: Input,
    /// The number of lines read so far.
    lines: u64,
    /// The number of rows read so far.
    rows: u64,
    /// The start of the next line.
    rest: Vec<u8>,
}

/// Lines of a file.
pub(crate) struct LineChunk {
    bytes: Vec<u8>,
    /// The first line.
    at: Origin,
    /// The number of rows before these lines.
    rows_before: u64,
    row_limit: usize,
    value_limit: usize,
}

/// One line that is not white space.
pub(super) struct Line<'c> {
    chunk: &'c LineChunk,
    bytes: &'c [u8],
    /// The line as text, if the whole chunk is UTF-8.
    text: Option<&'c str>,
    /// The line number, from 1.
    line: u64,
    /// The number of the row, from 1.
    number: u64,
}

impl JsonLines {
    pub(super) fn new(input: Input) -> Self {
        Self {
            input,
            lines: 0,
            rows: 0,
            rest: Vec::new(),
        }
    }

    /// Reads the next lines; `None` at the end of the file.
    pub(super) fn next_chunk(&mut self) -> Option<Result<LineChunk, DataError>> {
        match self.read() {
            Err(reason) => Some(Err(self.input.unreadable(reason))),
            Ok(bytes) if bytes.is_empty() => None,
            Ok(bytes) => {
                let at = self.input.at(self.lines + 1);
                let rows_before = self.rows;
                for line in lines(&bytes) {
                    self.lines += 1;
                    self.rows += u64::from(is_row(&bytes[line], self.input.row_limit));
                }
                let (row_limit, value_limit) = (self.input.row_limit, self.input.value_limit());
                Some(Ok(LineChunk {
                    bytes,
                    at,
                    rows_before,
                    row_limit,
                    value_limit,
                }))
            }
        }
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

impl LineChunk {
    /// Whether there is anything but white space.
    pub(super) fn has_rows(&self) -> bool {
        !self.bytes.trim_ascii_start().is_empty()
    }

    /// Calls a function with the lines that are not white space, in order, as long as it returns true.
    pub(super) fn each_row(&self, mut read: impl FnMut(&Line<'_>) -> bool) {
        let text = simdutf8::basic::from_utf8(&self.bytes).ok();
        let rows = (self.at.line..).zip(lines(&self.bytes));
        let rows = rows.filter(|(_, it)| is_row(&self.bytes[it.clone()], self.row_limit));
        for (number, (line, place)) in (self.rows_before + 1..).zip(rows) {
            let bytes = &self.bytes[place.clone()];
            let is_cut = is_cut(bytes, self.row_limit);
            let bytes = if is_cut {
                bytes
            } else {
                bytes.trim_ascii_end()
            };
            let text = text.map(|text| &text[place.start..place.start + bytes.len()]);
            if !read(&Line {
                chunk: self,
                bytes,
                text,
                line,
                number,
            }) {
                return;
            }
        }
    }
}

/// The place of each line, with its end.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let ends = memchr_iter(b'\n', bytes).map(|end| end + 1);
    let unended = (!bytes.is_empty() && !bytes.ends_with(b"\n")).then_some(bytes.len());
    let mut start = 0;
    ends.chain(unended)
        .map(move |end| std::mem::replace(&mut start, end)..end)
}

/// Returns `false` for white space, unless it is longer than a row may be.
fn is_row(line: &[u8], row_limit: usize) -> bool {
    is_cut(line, row_limit) || !line.trim_ascii_end().is_empty()
}

/// Whether a line, with its end, is longer than a row with `\r\n` may be.
fn is_cut(line: &[u8], row_limit: usize) -> bool {
    let limit = row_limit.saturating_add(1 + usize::from(line.ends_with(b"\n")));
    line.len() > limit
}

impl Line<'_> {
    fn is_too_long(&self) -> bool {
        self.bytes.len() > self.chunk.row_limit
    }

    /// A value that does not end in its line is often one that was written over several lines.
    fn with_advice(&self, mut error: DataError) -> DataError {
        if let DataError::Syntax { reason, .. } = &mut error
            && reason.starts_with("EOF while parsing")
        {
            reason.push_str(match self.bytes.starts_with(b"[") {
                true => "; write one object per line, or name a file with one array of rows .json",
                false => "; write one object per line",
            });
        }
        error
    }
}

impl UndecodedRow for Line<'_> {
    fn row(&self) -> Result<LocatedRow, DataError> {
        let at = self.at();
        if self.is_too_long() {
            return Err(DataError::TooLong {
                at,
                limit: self.chunk.row_limit,
            });
        }
        let row = json_row::parse(self.bytes, &at, 1, self.chunk.value_limit);
        let row = row.map_err(|error| self.with_advice(error))?;
        Ok(LocatedRow {
            row,
            at,
            number: self.number,
        })
    }

    fn decode(&self, selection: Option<&FieldSelection>, row: &mut Pair) -> Option<DecodedKeys> {
        FieldSelection::decode(selection, self.json()?, row)
    }

    fn string(&self, name: &str) -> Result<Option<String>, DataError> {
        match self.json().and_then(|json| string_in(json, name)) {
            Some(string) => Ok(string),
            None => self.row().map(|row| row.string(name)),
        }
    }

    fn json(&self) -> Option<&str> {
        self.text.filter(|_| !self.is_too_long())
    }

    fn file(&self) -> &Arc<Path> {
        &self.chunk.at.file
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn number(&self) -> u64 {
        self.number
    }
}

/// Returns the string under a key of an object; `None` if the object may be invalid, or if the string has escapes.
fn string_in(json: &str, name: &str) -> Option<Option<String>> {
    let (mut scanner, mut string) = (Scanner::new(json)?, None);
    scanner.object(|scanner, key| {
        if key == name && scanner.peek()? == b'"' {
            string = Some(scanner.plain_string()?.to_owned());
            return Some(());
        }
        scanner.skip()
    })?;
    scanner.is_at_end().then_some(string)
}
