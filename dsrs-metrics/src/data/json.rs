//! JSON: one array of rows, of which only one is in memory at a time.
//!
//! Finds where each element of the array begins and ends; what it is, `jsonl.rs` says.

use std::io::BufRead;

use super::row::Row;
use super::{DataError, OpenInput, jsonl};
use crate::core::rows::pair::Origin;

pub(super) struct Elements {
    input: OpenInput,
    line: u64,
    column: usize,
    begun: bool,
    buffer: Vec<u8>,
}

impl Elements {
    pub(super) fn new(input: OpenInput) -> Self {
        Self { input, line: 1, column: 1, begun: false, buffer: Vec::new() }
    }

    fn peek(&mut self) -> Result<Option<u8>, DataError> {
        match self.input.reader.fill_buf() {
            Ok(bytes) => Ok(bytes.first().copied()),
            Err(reason) => Err(self.input.unreadable(reason)),
        }
    }

    /// Passes over the byte that was peeked.
    fn advance(&mut self, byte: u8) {
        self.input.reader.consume(1);
        if byte == b'\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
    }

    /// The next byte that is no white space; it is not passed over.
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
        DataError::Syntax { at: self.at(), column: self.column, reason: reason.to_owned() }
    }

    /// Goes to the first byte of the next element; `false` at the end of the array.
    fn find_element(&mut self) -> Result<bool, DataError> {
        let first = !self.begun;
        if first {
            self.begun = true;
            match self.peek_token()? {
                None => return Ok(false),
                Some(b'[') => self.advance(b'['),
                Some(byte) => return Err(self.no_array(byte)),
            }
        }
        match self.peek_token()? {
            None => Err(self.syntax("the array of rows does not end")),
            Some(b']') => self.end(),
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.advance(b',');
                match self.peek_token()? {
                    Some(b']') => Err(self.syntax("trailing comma")),
                    Some(_) => Ok(true),
                    None => Err(self.syntax("the array of rows does not end")),
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

    fn no_array(&self, byte: u8) -> DataError {
        let found = match byte {
            b'{' => "an object".to_owned(),
            b'"' => "a text".to_owned(),
            byte => format!("`{}`", byte.escape_ascii()),
        };
        let file = self.input.file.to_path_buf();
        DataError::NotArray { file, found }
    }

    fn element(&mut self) -> Result<(Row, u64), DataError> {
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
        let row = jsonl::parse(&self.buffer, &at, column)?;
        self.buffer.shrink_to(1 << 20);
        Ok((row, at.line))
    }
}

impl Iterator for Elements {
    type Item = Result<(Row, u64), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.find_element() {
            Ok(true) => Some(self.element()),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// How far an element reaches: to its closing bracket, or to the comma or bracket behind it.
#[derive(Default)]
struct Extent {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Extent {
    fn ends_before(&self, byte: u8) -> bool {
        self.depth == 0 && !self.in_text && matches!(byte, b',' | b']' | b'}')
    }

    fn ends_with(&mut self, byte: u8) -> bool {
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
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
