//! CSV: a header of column names, then one record per row.
//!
//! The column `gold.answer` is the field `answer` of the gold row, `pred.answer` is a field of the prediction, and `id`
//! is the id; every other column is an attribute. Cells are strings, and the row is marked as textual. In a result
//! file, strings that a spreadsheet would evaluate have a leading apostrophe, which is removed.
//!
//! `csv_core` splits records and leaves counting lines and bounding memory to its caller. Both are needed here: errors
//! must name the right line, and an unclosed quote must not read the whole file into memory. Records are split in order
//! and decoded on any thread.
//!
//! The file is long because it finds the delimiter, splits records and decodes them.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr_iter;

use super::error::{DataError, DataErrorKind, Read, invalid};
use super::input::Input;
use super::pairing::Pairing;
use super::result_row::are_of_results;
use super::row::{Column, RowObject, check_sides};
use super::selection::FieldSelection;
use crate::contract::Origin;
use crate::messages::{escape, formula};

/// The maximum number of columns. Their names are copied into every row.
const MAX_COLUMNS: usize = 1_000_000;

/// The characters that can separate columns. The one that occurs most often in the header is used.
const DELIMITERS: [u8; 4] = [b'|', b'\t', b';', b','];

/// A batch ends with the record that reaches this number of bytes or cells.
const BATCH: usize = 1 << 16;

/// The columns of a file.
#[derive(Default)]
struct Header {
    names: Vec<String>,
    columns: Vec<Column>,
    /// For each column, `true` if it is decoded, or `None` if all columns are.
    selected: Option<Vec<bool>>,
    /// `true` if formulas are escaped with an apostrophe, as in result files.
    has_escapes: bool,
    delimiter: u8,
    are_of_results: bool,
}

/// Records of a CSV file.
#[derive(Default)]
pub(super) struct CsvRows {
    header: Arc<Header>,
    /// The cells of all records, end to end.
    text: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// The first line of each record, counted from 1, and its first cell.
    records: Vec<(u64, usize)>,
}

/// The records of a CSV file.
pub(super) struct CsvFile {
    input: Input,
    parser: Reader,
    /// The text of one record and the ends of its cells, with spare memory.
    record: (Vec<u8>, Vec<usize>),
    delimiter: u8,
    /// `true` if the delimiter was detected from the header.
    is_detected: bool,
    header: Arc<Header>,
    /// The maximum number of records in a batch.
    at_once: usize,
    /// The line of the next byte, counted from 1.
    line: u64,
    has_ended: bool,
}

impl CsvFile {
    /// Reads the header. Formulas are unescaped if the file is a result file or derived from one.
    pub(super) fn new(
        mut input: Input,
        (has_escapes, delimiter): (bool, Option<u8>),
        pairing: Option<&Pairing>,
        is_stream: bool,
    ) -> Result<Self, DataError> {
        let detected = detected(input.fill()?);
        let is_detected = delimiter.is_none() && detected != b',';
        let delimiter = delimiter.unwrap_or(detected);
        let mut parser = ReaderBuilder::new().delimiter(delimiter).build();
        // The parser removes a byte order mark from its first input, so it gets an empty line first. The file's own
        // byte order mark is already removed, and a second one is data. If the first input contained nothing else, it
        // would look like the end.
        parser.read_record(b"\n", &mut [], &mut []);
        let mut file = Self {
            input,
            parser,
            record: Default::default(),
            delimiter,
            is_detected,
            header: Arc::default(),
            at_once: if is_stream { 1 } else { usize::MAX },
            line: 1,
            has_ended: false,
        };
        let mut first = CsvRows::default();
        if file.read(&mut first)? {
            let at = file.input.at(first.line(0));
            let names = first.names(&at)?;
            let are_of_results = are_of_results(&names);
            // In a result file, a side can have fields in some rows and be a different value in others.
            if !are_of_results {
                check_sides(&names, &at)?;
            }
            let header = Header {
                are_of_results,
                has_escapes: has_escapes || are_of_results,
                delimiter,
                ..Header::default()
            };
            file.header = Arc::new(header.with_columns(names, pairing));
        }
        Ok(file)
    }

    /// Returns a note that names the delimiter, if the header showed that it is not a comma.
    pub(super) fn note(&self) -> Option<String> {
        let is_tsv = self.input.file.extension().is_some_and(|it| it == "tsv");
        (self.is_detected && !(is_tsv && self.delimiter == b'\t')).then(|| {
            format!(
                "{}: columns are separated by {}, as the header shows; pass --delimiter if they are not",
                self.input.file.display(),
                named(self.delimiter)
            )
        })
    }

    /// Reads the next records. Returns `None` at the end of the file or after an error.
    pub(super) fn next(&mut self) -> Option<Read<CsvRows>> {
        let mut rows = CsvRows {
            header: Arc::clone(&self.header),
            ..CsvRows::default()
        };
        let mut error = None;
        while !self.has_ended
            && rows.len() < self.at_once
            && rows.text.len().max(rows.ends.len()) < BATCH
        {
            let read = self.read(&mut rows);
            self.has_ended = !matches!(read, Ok(true));
            error = read.err();
        }
        (rows.len() > 0 || error.is_some()).then_some((rows, error))
    }

    /// Adds the next record. Returns `false` at the end of the file.
    fn read(&mut self, rows: &mut CsvRows) -> Result<bool, DataError> {
        self.skip_line_ends()?;
        let first_line = self.line;
        let (mut bytes, mut cells, mut has_started) = (0, 0, false);
        loop {
            let input = self.input.fill()?;
            // At the end of the input, the parser ends any cell, even one with an unclosed quote. A line break ends
            // only an unquoted cell, which reveals the unclosed quote.
            let at_end = input.is_empty() && has_started;
            let input = if at_end { b"\n" } else { input };
            has_started = true;
            let (text, ends) = &mut self.record;
            let record = (&mut text[bytes..], &mut ends[cells..]);
            let (result, read, written, ended) = self.parser.read_record(input, record.0, record.1);
            if !at_end {
                self.line += memchr_iter(b'\n', &input[..read]).count() as u64;
                self.input.reader.consume(read);
            }
            bytes += written;
            cells += ended;
            check_size(&self.input, first_line, bytes, cells)?;
            match result {
                ReadRecordResult::InputEmpty if at_end => {
                    return Err(DataError::at(
                        &self.input.at(first_line),
                        DataErrorKind::CutOff,
                        ": unclosed quote: a cell of this record extends to the end of the file; add the closing quote",
                    ));
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => text.resize(grown(text.len()), 0),
                ReadRecordResult::OutputEndsFull => ends.resize(grown(ends.len()), 0),
                ReadRecordResult::Record => {
                    let start = rows.text.len();
                    rows.records.push((first_line, rows.ends.len()));
                    rows.text.extend_from_slice(&text[..bytes]);
                    rows.ends
                        .extend(ends[..cells].iter().map(|end| start + end));
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Skips the rest of a `\r\n`, and empty lines.
    fn skip_line_ends(&mut self) -> Result<(), DataError> {
        loop {
            match self.input.fill()?.first() {
                Some(b'\n') => self.line += 1,
                Some(b'\r') => {}
                _ => return Ok(()),
            }
            self.input.reader.consume(1);
        }
    }
}

fn check_size(input: &Input, line: u64, bytes: usize, cells: usize) -> Result<(), DataError> {
    let limit = input.row_limit;
    // Empty cells have no text, but one separator each.
    if bytes > limit || cells > limit.saturating_add(1) {
        return Err(DataError::too_long(&input.at(line), limit));
    }
    if cells > MAX_COLUMNS {
        return Err(DataError::too_large(
            &input.at(line),
            format_args!(
                "expected at most {MAX_COLUMNS} columns, found more; put a JSON object in one column instead"
            ),
        ));
    }
    Ok(())
}

/// Returns the delimiter that occurs most often in the first line, outside of quotes. The default is a comma.
fn detected(start: &[u8]) -> u8 {
    let outside = start.split(|byte| *byte == b'"').step_by(2);
    let outside = outside.collect::<Vec<_>>().concat();
    let header = outside.split(|byte| *byte == b'\n').next();
    let count = |delimiter: &u8| header.map(|it| memchr_iter(*delimiter, it).count());
    // If there is a tie, the last one is chosen.
    DELIMITERS.into_iter().max_by_key(count).unwrap_or(b',')
}

/// Returns a delimiter's name for messages.
fn named(delimiter: u8) -> String {
    match delimiter {
        b'\t' => "tabs".to_owned(),
        delimiter => format!("`{}`", delimiter.escape_ascii()),
    }
}

pub(super) fn duplicate_column(at: &Origin, column: &str) -> DataError {
    let column = escape::name(column);
    invalid!(at, "duplicate column `{column}`; rename or remove one")
}

/// Returns the first name that occurs twice.
pub(super) fn duplicate(names: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    names
        .iter()
        .map(String::as_str)
        .find(|name| !seen.insert(*name))
}

fn grown(length: usize) -> usize {
    (2 * length).max(1 << 12)
}

impl Header {
    fn with_columns(self, names: Vec<String>, pairing: Option<&Pairing>) -> Self {
        let unescaped = |name: String| match self.has_escapes {
            true => formula::unescaped(&name).to_owned(),
            false => name,
        };
        let names: Vec<_> = names.into_iter().map(unescaped).collect();
        let unique: HashSet<_> = names.iter().map(String::as_str).collect();
        // Names may be equal once their apostrophes are removed.
        let is_common = unique.len() == names.len();
        let selection = pairing.and_then(|it| it.selection_of(self.are_of_results));
        let selection = selection.filter(|_| is_common);
        let column = |name: &String| Column::new(name, false, selection);
        Self {
            selected: selection.map(|it| names.iter().map(|name| it.reads_column(name)).collect()),
            columns: names.iter().map(column).collect(),
            names,
            ..self
        }
    }
}

impl CsvRows {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.records[row].0
    }

    /// Returns the position of a record's first cell, and the number of its cells.
    fn cells(&self, row: usize) -> (usize, usize) {
        let (_, first) = self.records[row];
        let end = self.records.get(row + 1);
        (first, end.map_or(self.ends.len(), |(_, end)| *end) - first)
    }

    /// Returns the names in the header, which is the first record, as written.
    fn names(&self, at: &Origin) -> Result<Vec<String>, DataError> {
        let name = |place: usize| {
            let (name, _) = self.cell(place, &(place + 1).to_string(), at)?;
            Ok(name.to_owned())
        };
        let names: Vec<String> = (0..self.ends.len()).map(name).collect::<Result<_, _>>()?;
        match duplicate(&names) {
            Some(column) => Err(duplicate_column(at, column)),
            None => Ok(names),
        }
    }

    /// Decodes a row, or only its selected columns.
    pub(super) fn read(
        &self,
        row: usize,
        at: &Origin,
        selection: Option<&FieldSelection>,
    ) -> Result<RowObject, DataError> {
        let Header { names, columns, .. } = &*self.header;
        let (first, found) = self.cells(row);
        let expected = names.len();
        if expected != found {
            let delimiter = match self.header.delimiter {
                b',' => "comma".to_owned(),
                delimiter => format!("delimiter ({})", named(delimiter)),
            };
            return Err(invalid!(
                at,
                "expected {expected} cells as in the header, found {found}; check for a missing quote or {delimiter}"
            ));
        }
        let selected = selection.and(self.header.selected.as_ref());
        let mut object = RowObject {
            is_flat: true,
            is_of_results: self.header.are_of_results,
            ..RowObject::default()
        };
        object.attributes.textual = true;
        for (index, name) in names.iter().enumerate() {
            if selected.is_some_and(|selected| !selected[index]) {
                continue;
            }
            let (text, is_string) = self.cell(first + index, name, at)?;
            if name != "id" || !text.is_empty() {
                object.add_cell(&columns[index], text.into(), is_string);
            }
        }
        Ok(object)
    }

    /// Returns the cell at a place, and `true` if an apostrophe was removed. `column` is the cell's name in errors.
    fn cell(&self, place: usize, column: &str, at: &Origin) -> Result<(&str, bool), DataError> {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let cell = &self.text[start..self.ends[place]];
        let text = str::from_utf8(cell).map_err(|error| {
            let (column, valid) = (escape::name(column), error.valid_up_to());
            let (byte, found) = (valid + 1, cell[valid]);
            invalid!(at, "column `{column}`: invalid UTF-8: byte {byte} is 0x{found:02X}; convert the file to UTF-8, or pass --encoding windows-1252 if a Windows program wrote it")
        })?;
        let unescaped = match self.header.has_escapes {
            true => formula::unescaped(text),
            false => text,
        };
        Ok((unescaped, unescaped.len() < text.len()))
    }
}

#[cfg(test)]
mod tests;
