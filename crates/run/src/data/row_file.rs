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
use super::whole_file::WholeFile;

/// A Parquet file on a stream may be as long as this number of the longest rows.
#[cfg(feature = "parquet")]
const STREAM_ROWS: u64 = 16;

/// A file, and the name that messages and outputs show: the name of the file that was converted to this one.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct NamedFile<'a> {
    /// The file that is read.
    pub path: &'a Path,
    /// The name.
    pub name: &'a Path,
}

impl<'a, F: AsRef<Path> + ?Sized> From<&'a F> for NamedFile<'a> {
    fn from(file: &'a F) -> Self {
        Self {
            path: file.as_ref(),
            name: file.as_ref(),
        }
    }
}

/// A file that is not open yet.
pub(super) struct UnopenedFile {
    name: PathBuf,
    format: Format,
    source: Source,
}

enum Source {
    /// A file with this path.
    File(PathBuf),
    StandardInput,
    Reader(Box<dyn BufRead + Send>),
}

impl UnopenedFile {
    /// Checks that the file exists and has a format; `-` is standard input.
    pub(super) fn new<'f>(
        file: impl Into<NamedFile<'f>>,
        format: Option<Format>,
    ) -> Result<Self, DataError> {
        let NamedFile { path: file, name } = file.into();
        if file.as_os_str() == "-" {
            return Ok(Self {
                name: "<stdin>".into(),
                format: format.unwrap_or(Format::Jsonl),
                source: Source::StandardInput,
            });
        }
        let name = name.to_path_buf();
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
        Ok(Self {
            name,
            format,
            source: Source::File(file.to_path_buf()),
        })
    }

    /// Returns whether reading may block for long.
    pub(super) fn may_block(&self) -> bool {
        match &self.source {
            Source::File(path) => !fs::metadata(path).is_ok_and(|it| it.is_file()),
            Source::StandardInput | Source::Reader(_) => true,
        }
    }

    /// Reads from `reader`; `name` is used in errors and origins.
    pub(super) fn from_reader(
        name: &Path,
        format: Format,
        reader: impl BufRead + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            format,
            source: Source::Reader(Box::new(reader)),
        }
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
        // A row of a stream does not wait for the next one.
        let is_stream = self.may_block();
        let Self {
            name,
            format,
            source,
        } = self;
        let name: Arc<Path> = name.into();
        let record = Arc::new(DataFileRecord::new(&name, is_hashed));
        let unreadable = |reason| DataError::Unreadable {
            file: name.to_path_buf(),
            reason,
        };
        let input = |source: Source| {
            let reader = source
                .reader(&name, &record, is_hashed)
                .map_err(unreadable)?;
            Input::new(Arc::clone(&name), reader, row_limit)
        };
        let rows: Chunks = match format {
            Format::Jsonl => {
                let mut lines = JsonLines::new(input(source)?);
                Box::new(iter::from_fn(move || {
                    Some(lines.next_chunk()?.map(ChunkRows::Lines))
                }))
            }
            Format::Json => {
                let mut rows = JsonArray::new(input(source)?);
                let most = if is_stream { 1 } else { ROWS_AT_ONCE };
                Box::new(iter::from_fn(move || {
                    Some(Ok(ChunkRows::Rows(rows.next_chunk(most)?)))
                }))
            }
            #[cfg(feature = "csv")]
            Format::Csv => {
                let pairing = pairing.map(|pairing| &**pairing);
                let most = if is_stream { 1 } else { usize::MAX };
                let mut records = CsvRecords::new(input(source)?, apostrophes, pairing, most)?;
                Box::new(iter::from_fn(move || {
                    Some(Ok(ChunkRows::Records(records.next_chunk()?)))
                }))
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let (file, pairing) = (Arc::clone(&name), pairing.cloned());
                match source {
                    Source::File(path) => {
                        let reader = fs::File::open(&path).map_err(unreadable)?;
                        if is_hashed {
                            let file = fs::File::open(&path).map_err(unreadable)?;
                            record.add_all(file).map_err(unreadable)?;
                        }
                        let open = move || reader.try_clone();
                        let mut rows = ParquetRows::new(file, open, row_limit, pairing)?;
                        Box::new(iter::from_fn(move || rows.next_chunk()))
                    }
                    // The schema is at the end, so a stream is read into memory.
                    stream => {
                        let reader = stream
                            .reader(&name, &record, is_hashed)
                            .map_err(unreadable)?;
                        let limit = (row_limit.max(1 << 20) as u64).saturating_mul(STREAM_ROWS);
                        let (mut reader, mut bytes) =
                            (reader.take(limit.saturating_add(1)), Vec::new());
                        reader.read_to_end(&mut bytes).map_err(unreadable)?;
                        if bytes.len() as u64 > limit {
                            return Err(DataError::LongStream {
                                file: name.to_path_buf(),
                                limit,
                            });
                        }
                        let bytes = bytes::Bytes::from(bytes);
                        let open = move || Ok(bytes.clone());
                        let mut rows = ParquetRows::new(file, open, row_limit, pairing)?;
                        Box::new(iter::from_fn(move || rows.next_chunk()))
                    }
                }
            }
        };
        Ok(RowFile {
            name,
            rows,
            has_rows: false,
            record,
        })
    }
}

impl Source {
    fn reader(
        self,
        name: &Path,
        record: &Arc<DataFileRecord>,
        is_hashed: bool,
    ) -> io::Result<Box<dyn BufRead + Send>> {
        const BUFFER: usize = 1 << 16;
        if let Self::File(path) = &self
            && path != name
        {
            // The record is of the file that this one was converted from.
            if is_hashed {
                record.add_all(fs::File::open(name)?)?;
            }
            return Ok(Box::new(BufReader::with_capacity(
                BUFFER,
                WholeFile::open(path)?,
            )));
        }
        let reader: Box<dyn io::Read + Send> = match self {
            Self::Reader(reader) => Box::new(reader),
            Self::StandardInput => Box::new(io::stdin()),
            Self::File(path) => Box::new(WholeFile::open(&path)?),
        };
        Ok(Box::new(BufReader::with_capacity(
            BUFFER,
            Recorded::new(reader, record),
        )))
    }
}

type Chunks = Box<dyn Iterator<Item = Result<ChunkRows, DataError>> + Send>;

/// The rows of an open file. A file without rows is an error.
pub(super) struct RowFile {
    name: Arc<Path>,
    rows: Chunks,
    /// Whether any row was read.
    has_rows: bool,
    pub(super) record: Arc<DataFileRecord>,
}

impl RowFile {
    /// Reads the next rows.
    pub(super) fn next_chunk(&mut self) -> Option<Result<RowChunk, DataError>> {
        let Some(rows) = self.rows.next() else {
            if self.has_rows {
                self.record.end();
                return None;
            }
            return Some(Err(DataError::Empty {
                file: self.name.to_path_buf(),
            }));
        };
        self.has_rows |= rows.as_ref().is_ok_and(ChunkRows::has_rows);
        let file = Arc::clone(&self.record);
        Some(rows.map(|rows| RowChunk { rows, file }))
    }
}
