//! JSONL: one row per line. Lines of white space are skipped; `\n` and `\r\n` both end a line.

use std::io::{self, BufRead, Read};

use super::error::DataError;
use super::input::Input;
use super::json_row;
use super::row::Row;

/// The capacity that the buffer keeps between rows; what a longer row needed is freed.
const KEPT_CAPACITY: usize = 1 << 20;

/// The rows of a JSONL file.
pub(super) struct JsonLines {
    input: Input,
    /// The number of lines read so far.
    line: u64,
    buffer: Vec<u8>,
}

impl JsonLines {
    pub(super) fn new(input: Input) -> Self {
        Self { input, line: 0, buffer: Vec::new() }
    }

    /// Reads a line into the buffer and returns its length, 0 at the end of the file.
    fn read_line(&mut self) -> io::Result<usize> {
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_CAPACITY);
        self.line += 1;
        // Room for `\r\n` after the longest row.
        let limit = (self.input.row_limit as u64).saturating_add(2);
        (&mut self.input.reader).take(limit).read_until(b'\n', &mut self.buffer)
    }

    /// Whether the line is longer than what was read of it.
    fn is_cut(&self) -> bool {
        self.buffer.len() > self.input.row_limit.saturating_add(1) && !self.buffer.ends_with(b"\n")
    }

    fn row(&self) -> Result<Row, DataError> {
        let at = self.input.at(self.line);
        let text = self.buffer.trim_ascii_end();
        if self.is_cut() || text.len() > self.input.row_limit {
            let limit = self.input.row_limit;
            return Err(DataError::TooLong { at, limit });
        }
        json_row::parse(text, &at, 1, self.input.value_limit())
    }
}

impl Iterator for JsonLines {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.read_line() {
                Err(reason) => return Some(Err(self.input.unreadable(reason))),
                Ok(0) => return None,
                Ok(_) if self.buffer.trim_ascii().is_empty() && !self.is_cut() => {}
                Ok(_) => return Some(self.row().map(|row| (row, self.line))),
            }
        }
    }
}
