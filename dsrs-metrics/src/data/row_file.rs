//! Opening a file of rows, and reading it in its format.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "csv")]
use super::csv::CsvRecords;
use super::error::DataError;
use super::format::Format;
use super::input::Input;
use super::json_array::JsonArray;
use super::json_lines::JsonLines;
use super::row::Row;
use crate::core::rows::pair::Origin;

/// A file that is not open yet.
pub(super) struct UnopenedFile {
    name: PathBuf,
    format: Format,
    source: Source,
}

enum Source {
    File,
    StandardInput,
    Reader(Box<dyn BufRead + Send>),
}

impl UnopenedFile {
    /// Checks that the file exists and has a format; `-` is standard input.
    pub(super) fn new(file: &Path, format: Option<Format>) -> Result<Self, DataError> {
        if file.as_os_str() == "-" {
            return Ok(Self {
                name: "<stdin>".into(),
                format: format.unwrap_or(Format::Jsonl),
                source: Source::StandardInput,
            });
        }
        let name = file.to_path_buf();
        match fs::metadata(file) {
            Err(reason) => return Err(DataError::Unreadable { file: name, reason }),
            Ok(metadata) if metadata.is_dir() => return Err(DataError::Directory { file: name }),
            Ok(_) => {}
        }
        let Some(format) = format.or_else(|| Format::of(file)) else {
            return Err(DataError::UnknownFormat { file: name });
        };
        Ok(Self { name, format, source: Source::File })
    }

    /// Reads from `reader`; `name` is used in errors and origins.
    pub(super) fn from_reader(
        name: &Path,
        format: Format,
        reader: impl BufRead + Send + 'static,
    ) -> Self {
        Self { name: name.into(), format, source: Source::Reader(Box::new(reader)) }
    }

    pub(super) fn open(self, row_limit: usize) -> Result<RowFile, DataError> {
        const BUFFER: usize = 1 << 16;
        let Self { name, format, source } = self;
        let reader: Box<dyn BufRead + Send> = match source {
            Source::Reader(reader) => reader,
            Source::StandardInput => Box::new(BufReader::with_capacity(BUFFER, io::stdin())),
            Source::File => match File::open(&name) {
                Ok(file) => Box::new(BufReader::with_capacity(BUFFER, file)),
                Err(reason) => return Err(DataError::Unreadable { file: name, reason }),
            },
        };
        let name: Arc<Path> = name.into();
        let input = Input::new(Arc::clone(&name), reader, row_limit)?;
        let rows: Rows = match format {
            Format::Jsonl => Box::new(JsonLines::new(input)),
            Format::Json => Box::new(JsonArray::new(input)),
            #[cfg(feature = "csv")]
            Format::Csv => Box::new(CsvRecords::new(input)?),
        };
        Ok(RowFile { name, format, rows, read: 0 })
    }
}

/// Rows with their first line.
type Rows = Box<dyn Iterator<Item = Result<(Row, u64), DataError>> + Send>;

/// The rows of an open file. A file without rows is an error.
pub(super) struct RowFile {
    name: Arc<Path>,
    format: Format,
    rows: Rows,
    /// The number of rows read so far.
    read: u64,
}

/// A row as it was read, and where.
pub(super) struct LocatedRow {
    pub(super) row: Row,
    pub(super) at: Origin,
    /// What identifies the row within its file if it has no id: its line, or its position in a JSON
    /// array, both counted from 1. All rows of an array may be in one line.
    pub(super) number: u64,
}

impl Iterator for RowFile {
    type Item = Result<LocatedRow, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.rows.next() {
            Some(Ok((row, line))) => {
                self.read += 1;
                let number = if self.format == Format::Json { self.read } else { line };
                let at = Origin { file: Arc::clone(&self.name), line };
                Some(Ok(LocatedRow { row, at, number }))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.read == 0 => Some(Err(DataError::Empty { file: self.name.to_path_buf() })),
            None => None,
        }
    }
}
