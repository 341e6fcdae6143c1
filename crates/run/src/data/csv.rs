//! CSV: a header of column names, then one record per row.
//!
//! The column `gold.answer` is the field `answer` of the gold row, `pred.answer` one of the
//! prediction, `id` the id; every other column is an attribute. Cells are strings, and the row is
//! marked as textual. In a result file, strings that a spreadsheet would evaluate have a leading
//! apostrophe, which is removed.
//!
//! `csv_core` splits records and leaves counting lines and bounding memory to its caller. Both are
//! needed here: an error must name the right line, and an unclosed quote must not read the whole
//! file into memory. Records are split in order, and become rows on any thread (`csv/records.rs`).

mod records;

use std::io::BufRead;
use std::sync::Arc;

use csv_core::{ReadRecordResult, Reader};
use indexmap::IndexSet;
use memchr::memchr_iter;

use super::error::DataError;
use super::input::{Apostrophes, Input};
use super::pairing::Pairing;
use super::row::check_sides;
use super::undecoded_row::UndecodedRow as _;
use records::Header;
pub(super) use records::RecordChunk;

/// The most columns: their names are copied into every row.
const MAX_COLUMNS: usize = 1_000_000;

/// The separators of other programs.
const OTHER_DELIMITERS: [char; 2] = [';', '\t'];

/// A chunk ends with the record in which it has this number of bytes or cells.
const CHUNK: usize = 1 << 16;

/// The records of a CSV file.
pub(super) struct CsvRecords {
    input: Input,
    parser: Reader,
    header: Arc<Header>,
    /// The most records of a chunk.
    at_once: usize,
    /// The bytes and cells of the last chunk.
    size: (usize, usize),
    /// The line of the next byte, counted from 1.
    line: u64,
    /// The number of records after the header read so far.
    records: u64,
    has_failed: bool,
}

impl CsvRecords {
    /// Reads the header. Formulas are unescaped if the file is a result file, whatever `apostrophes` is.
    pub(super) fn new(
        input: Input,
        apostrophes: Apostrophes,
        pairing: Option<&Pairing>,
        at_once: usize,
    ) -> Result<Self, DataError> {
        // `Reader::default()` has no separators, `Reader::new()` has the separators of CSV.
        let mut parser = Reader::new();
        // An empty line as the first input, from which the parser removes a byte order mark. The byte order mark of the
        // file is already removed; another one is data. A first input with nothing else would look like the end.
        parser.read_record(b"\n", &mut [], &mut []);
        let header = Arc::default();
        let mut records = Self {
            input,
            parser,
            header,
            at_once,
            size: (0, 0),
            line: 1,
            records: 0,
            has_failed: false,
        };
        let mut first = records.empty_chunk();
        if records.read(&mut first)? {
            let names = records.names(&first)?;
            let are_of_results = are_of_results(&names);
            // Some rows of a result file may have fields, and others another value.
            if !are_of_results {
                check_sides(names.iter().map(String::as_str), &first.first().at())?;
            }
            let has_escapes = apostrophes == Apostrophes::Escapes || are_of_results;
            records.header = Arc::new(Header::new(names, has_escapes, pairing));
        }
        Ok(records)
    }

    /// Reads the next records; `None` at the end of the file, and after an error.
    pub(super) fn next_chunk(&mut self) -> Option<RecordChunk> {
        let mut chunk = self.empty_chunk();
        chunk.records_before = self.records;
        let mut is_ended = self.has_failed;
        while !is_ended && chunk.len() < self.at_once && chunk.size() < CHUNK {
            let complete = (chunk.text_len, chunk.cells);
            let read = self.read(&mut chunk);
            if !matches!(read, Ok(true)) {
                // Removes the cells of a record that does not end.
                (chunk.text_len, chunk.cells) = complete;
            }
            match read {
                Ok(is_read) => is_ended = !is_read,
                Err(error) => {
                    (self.has_failed, is_ended) = (true, true);
                    chunk.error = Some(error);
                }
            }
        }
        self.records += chunk.len() as u64;
        self.size = (chunk.text_len.min(2 * CHUNK), chunk.cells.min(2 * CHUNK));
        (chunk.len() > 0 || chunk.error.is_some()).then_some(chunk)
    }

    fn empty_chunk(&self) -> RecordChunk {
        RecordChunk::new(&self.header, &self.input, self.size)
    }

    /// Adds the next record to a chunk; `false` at the end of the file.
    fn read(&mut self, chunk: &mut RecordChunk) -> Result<bool, DataError> {
        self.skip_line_ends()?;
        let line = self.line;
        let at = |input: &Input| input.at(line);
        let (first_byte, first_cell) = (chunk.text_len, chunk.cells);
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
            let text = &mut chunk.text[chunk.text_len..];
            let ends = &mut chunk.ends[chunk.cells..];
            let (result, read, written, ended) = self.parser.read_record(input, text, ends);
            if !at_end {
                self.line += memchr_iter(b'\n', &input[..read]).count() as u64;
                self.input.reader.consume(read);
            }
            chunk.text_len += written;
            chunk.cells += ended;
            let (bytes, cells) = (chunk.text_len - first_byte, chunk.cells - first_cell);
            // Empty cells have no text, but a separator each.
            if bytes > self.input.row_limit || cells > self.input.row_limit.saturating_add(1) {
                let (at, limit) = (at(&self.input), self.input.row_limit);
                return Err(DataError::TooLong { at, limit });
            }
            if cells > MAX_COLUMNS {
                return Err(DataError::TooManyColumns {
                    at: at(&self.input),
                    limit: MAX_COLUMNS,
                });
            }
            match result {
                ReadRecordResult::InputEmpty if at_end => {
                    return Err(DataError::UnclosedQuote {
                        at: at(&self.input),
                    });
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => chunk.text.resize(grown(chunk.text.len()), 0),
                ReadRecordResult::OutputEndsFull => chunk.ends.resize(grown(chunk.ends.len()), 0),
                ReadRecordResult::Record => {
                    chunk.add(line, first_byte, first_cell);
                    return Ok(true);
                }
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

    /// The names of the header as they are written.
    fn names(&self, first: &RecordChunk) -> Result<IndexSet<String>, DataError> {
        let header = first.first();
        let mut names = IndexSet::with_capacity(header.len());
        for index in 0..header.len() {
            let name = header.text(index, &format!("{}", index + 1))?;
            let other = name
                .chars()
                .find(|character| OTHER_DELIMITERS.contains(character));
            if let Some(found) = other.filter(|_| header.len() == 1) {
                return Err(DataError::Delimiter {
                    at: header.at(),
                    found,
                });
            }
            if !names.insert(name.to_owned()) {
                return Err(DataError::DuplicateColumn {
                    at: header.at(),
                    column: name.to_owned(),
                });
            }
        }
        Ok(names)
    }
}

/// Whether these are columns of a result file: `id`, and of a metric its value, `NAME.outcome` and `NAME.cost_msats`.
pub(super) fn are_of_results(names: &IndexSet<String>) -> bool {
    let is_metric =
        |name: &str| names.contains(name) && names.contains(&format!("{name}.cost_msats"));
    names.contains("id")
        && names
            .iter()
            .filter_map(|name| name.strip_suffix(".outcome"))
            .any(is_metric)
}

fn grown(length: usize) -> usize {
    (2 * length).max(64)
}

#[cfg(test)]
mod tests;
