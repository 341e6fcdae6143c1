//! Opening a file of rows, and reading it in its format.

use std::fs;
#[cfg(feature = "parquet")]
use std::io::Read as _;
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::{ChunkRows, ROWS_AT_ONCE, RowChunk};
#[cfg(feature = "csv")]
use super::csv::CsvRecords;
use super::data_file::{DataFileRecord, Recorded};
use super::error::DataError;
use super::format::Format;
use super::input::{Apostrophes, Input};
use super::json_array::JsonArray;
use super::json_lines::JsonLines;
use super::pairing::Pairing;
#[cfg(feature = "parquet")]
use super::parquet::ParquetRows;
use super::row::{LocatedRow, Row};
use super::whole_file::WholeFile;
use crate::core::rows::pair::Origin;

/// A Parquet file on a stream may be as long as this number of the longest rows.
#[cfg(feature = "parquet")]
const STREAM_ROWS: u64 = 16;

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
            return Err(match Format::compression_of(file) {
                Some(found) => DataError::Compressed { file: name, found },
                None => DataError::UnknownFormat { file: name },
            });
        };
        Ok(Self { name, format, source: Source::File })
    }

    /// Returns whether reading may block for long.
    pub(super) fn may_block(&self) -> bool {
        !matches!(self.source, Source::File)
            || !fs::metadata(&self.name).is_ok_and(|it| it.is_file())
    }

    /// Reads from `reader`; `name` is used in errors and origins.
    pub(super) fn from_reader(
        name: &Path,
        format: Format,
        reader: impl BufRead + Send + 'static,
    ) -> Self {
        Self { name: name.into(), format, source: Source::Reader(Box::new(reader)) }
    }

    /// `pairing` selects the columns that are decoded; without it, all are. `is_hashed` is whether the record of the file has
    /// its hash.
    pub(super) fn open(
        self,
        row_limit: usize,
        apostrophes: Apostrophes,
        pairing: Option<&Arc<Pairing>>,
        is_hashed: bool,
    ) -> Result<RowFile, DataError> {
        #[cfg(not(feature = "csv"))]
        let _ = (apostrophes, pairing);
        // A row of a pipe does not wait for the next one.
        let at_once = if self.may_block() { 1 } else { ROWS_AT_ONCE };
        let Self { name, format, source } = self;
        let name: Arc<Path> = name.into();
        let record = Arc::new(DataFileRecord::new(&name, is_hashed));
        let unreadable = |reason| DataError::Unreadable { file: name.to_path_buf(), reason };
        let input = |source: Source| {
            let reader = source.reader(&name, &record).map_err(unreadable)?;
            Input::new(Arc::clone(&name), reader, row_limit)
        };
        let rows: Rows = match format {
            Format::Jsonl => Rows::Lines(JsonLines::new(input(source)?)),
            Format::Json => each(JsonArray::new(input(source)?)),
            #[cfg(feature = "csv")]
            Format::Csv => {
                let pairing = pairing.map(|pairing| &**pairing);
                let records = CsvRecords::new(input(source)?, apostrophes, pairing, at_once);
                Rows::Records(Box::new(records?))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let (file, pairing) = (Arc::clone(&name), pairing.cloned());
                match source {
                    Source::File => {
                        let reader = fs::File::open(&name).map_err(unreadable)?;
                        if is_hashed {
                            let file = fs::File::open(&name).map_err(unreadable)?;
                            record.add_all(file).map_err(unreadable)?;
                        }
                        let open = move || reader.try_clone();
                        Rows::Chunks(Box::new(ParquetRows::new(file, open, row_limit, pairing)?))
                    }
                    // The schema is at the end, so a stream is read into memory.
                    stream => {
                        let reader = stream.reader(&name, &record).map_err(unreadable)?;
                        let limit = (row_limit.max(1 << 20) as u64).saturating_mul(STREAM_ROWS);
                        let (mut reader, mut bytes) =
                            (reader.take(limit.saturating_add(1)), Vec::new());
                        reader.read_to_end(&mut bytes).map_err(unreadable)?;
                        if bytes.len() as u64 > limit {
                            return Err(DataError::LongStream { file: name.to_path_buf(), limit });
                        }
                        let bytes = bytes::Bytes::from(bytes);
                        let open = move || Ok(bytes.clone());
                        Rows::Chunks(Box::new(ParquetRows::new(file, open, row_limit, pairing)?))
                    }
                }
            }
        };
        Ok(RowFile { name, format, rows, at_once, read: 0, record })
    }
}

impl Source {
    fn reader(
        self,
        file: &Path,
        record: &Arc<DataFileRecord>,
    ) -> io::Result<Box<dyn BufRead + Send>> {
        const BUFFER: usize = 1 << 16;
        let reader: Box<dyn io::Read + Send> = match self {
            Self::Reader(reader) => Box::new(reader),
            Self::StandardInput => Box::new(io::stdin()),
            Self::File => Box::new(WholeFile::open(file)?),
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, Recorded::new(reader, record))))
    }
}

enum Rows {
    Lines(JsonLines),
    #[cfg(feature = "csv")]
    Records(Box<CsvRecords>),
    /// Rows with their first line.
    Each(iter::Fuse<EachRow>),
    /// Chunks of a file of columns.
    #[cfg(feature = "parquet")]
    Chunks(Box<ParquetRows>),
}

type EachRow = Box<dyn Iterator<Item = Result<(Row, u64), DataError>> + Send>;

fn each(rows: impl Iterator<Item = Result<(Row, u64), DataError>> + Send + 'static) -> Rows {
    let rows: EachRow = Box::new(rows);
    Rows::Each(rows.fuse())
}

/// The rows of an open file. A file without rows is an error.
pub(super) struct RowFile {
    name: Arc<Path>,
    format: Format,
    rows: Rows,
    /// The most rows of a chunk, if the format has no lines.
    at_once: usize,
    /// The number of rows read so far. For JSONL, the number of chunks with rows.
    read: u64,
    pub(super) record: Arc<DataFileRecord>,
}

impl RowFile {
    /// Reads the next rows.
    pub(super) fn next_chunk(&mut self) -> Option<Result<RowChunk, DataError>> {
        let chunk = match &mut self.rows {
            Rows::Lines(lines) => lines.next_chunk().map(|chunk| chunk.map(ChunkRows::Lines)),
            #[cfg(feature = "csv")]
            Rows::Records(records) => records.next_chunk().map(ChunkRows::Records).map(Ok),
            #[cfg(feature = "parquet")]
            Rows::Chunks(chunks) => chunks.next_chunk(),
            Rows::Each(rows) => {
                let mut chunk = Vec::new();
                while chunk.len() < self.at_once
                    && let Some(row) = rows.next()
                {
                    let number = self.read + chunk.len() as u64 + 1;
                    let located = row.map(|(row, line)| {
                        let number = if self.format == Format::Json { number } else { line };
                        let at = Origin { file: Arc::clone(&self.name), line };
                        LocatedRow { row, at, number }
                    });
                    let is_last = located.is_err();
                    chunk.push(located);
                    if is_last {
                        break;
                    }
                }
                (!chunk.is_empty()).then_some(Ok(ChunkRows::Rows(chunk)))
            }
        };
        match &chunk {
            None if self.read == 0 => {
                return Some(Err(DataError::Empty { file: self.name.to_path_buf() }));
            }
            None => self.record.end(),
            Some(Ok(ChunkRows::Lines(lines))) => self.read += u64::from(lines.has_rows()),
            #[cfg(feature = "csv")]
            Some(Ok(ChunkRows::Records(records))) => self.read += records.len() as u64,
            Some(Ok(ChunkRows::Rows(rows))) => self.read += rows.len() as u64,
            #[cfg(feature = "parquet")]
            Some(Ok(ChunkRows::Block(rows))) => self.read += rows.len() as u64,
            Some(Err(_)) => {}
        }
        let file = Arc::clone(&self.record);
        chunk.map(|rows| rows.map(|rows| RowChunk { rows, file }))
    }
}
