//! Opens a row file and reads its rows in the file's format.
//!
//! The file is long because each format is opened and read here.

#[cfg(feature = "parquet")]
use std::io::Read as _;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, iter};

use super::batch::{Batch, BatchRows, RawRow};
#[cfg(feature = "csv")]
use super::csv::CsvFile;
use super::data_file::{DataFileRecord, RecordedFile};
use super::error::{DataError, DataErrorKind, Read};
use super::input::{Encoding, Input, ROW_LIMIT};
use super::pairing::Pairing;
#[cfg(feature = "parquet")]
use super::parquet::ParquetFile;
use super::text::{JsonValues, Kind, TextLines, is_several_lines};
use crate::in_order::in_order;

/// The maximum length of a Parquet file on a stream, as a multiple of the row limit.
#[cfg(feature = "parquet")]
const STREAM_ROWS: u64 = 16;

/// A file with a name to show in messages and outputs.
///
/// A converted file keeps the name of the original.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct NamedFile<'a> {
    /// The file that is read.
    pub path: &'a Path,
    /// The name to show instead of the path.
    pub name: &'a Path,
    /// The files that this file was converted from.
    ///
    /// This is empty if the file was not converted.
    pub sources: &'a [PathBuf],
}

impl<'a, F: AsRef<Path> + ?Sized> From<&'a F> for NamedFile<'a> {
    fn from(file: &'a F) -> Self {
        Self {
            path: file.as_ref(),
            name: file.as_ref(),
            sources: &[],
        }
    }
}

/// A file that is not open yet.
pub(super) struct RowSource {
    name: PathBuf,
    format: Format,
    options: FileOptions,
    content: Content,
    sources: Vec<PathBuf>,
}

enum Content {
    /// The file at this path.
    File(PathBuf),
    /// Standard input, or any reader.
    Reader(Box<dyn BufRead + Send>),
}

/// How to read files, where their names don't say it.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(
    not(feature = "csv"),
    allow(dead_code, reason = "only CSV has delimiters and escapes")
)]
pub(super) struct FileOptions {
    /// The format, or `None` to use the file extension.
    pub(super) format: Option<Format>,
    /// The separator of CSV columns, or `None` to detect it from the header.
    pub(super) delimiter: Option<u8>,
    pub(super) encoding: Encoding,
    /// The maximum number of bytes in one row, or `None` for [`ROW_LIMIT`].
    pub(super) row_limit: Option<usize>,
    /// `true` if an apostrophe before a formula in a CSV file is an escape, because the file is derived from a result
    /// file. In a result file it always is.
    pub(super) has_escapes: bool,
}

impl RowSource {
    /// Checks that the file exists and has a format; `-` is standard input.
    pub(super) fn new<'f>(
        file: impl Into<NamedFile<'f>>,
        options: FileOptions,
    ) -> Result<Self, DataError> {
        let NamedFile {
            path: file,
            name,
            sources,
        } = file.into();
        if file.as_os_str() == "-" {
            let format = options.format.unwrap_or(Format::Jsonl);
            let reader = BufReader::new(io::stdin());
            return Ok(Self::from_reader(
                "<stdin>".as_ref(),
                format,
                options,
                reader,
            ));
        }
        if let Err(reason) = fs::metadata(file) {
            return Err(DataError::unreadable(name, &reason));
        }
        let Some(format) = options.format.or_else(|| Format::of(file)) else {
            let message = format!(
                "{}: unknown extension; expected {}; rename the file or set --format",
                name.display(),
                Format::EXTENSIONS
            );
            return Err(DataError::new(DataErrorKind::Unreadable, message));
        };
        Ok(Self {
            name: name.to_path_buf(),
            format,
            options,
            content: Content::File(file.to_path_buf()),
            sources: sources.to_vec(),
        })
    }

    /// Returns `true` if reading may block for a long time.
    pub(super) fn may_block(&self) -> bool {
        match &self.content {
            Content::File(path) => !fs::metadata(path).is_ok_and(|it| it.is_file()),
            Content::Reader(_) => true,
        }
    }

    /// Reads from `reader`; `name` is used in errors and origins.
    pub(super) fn from_reader(
        name: &Path,
        format: Format,
        options: FileOptions,
        reader: impl BufRead + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            format,
            options,
            content: Content::Reader(Box::new(reader)),
            sources: Vec::new(),
        }
    }

    /// Opens the file. The pairing selects the columns to decode; without a pairing, all columns are decoded. If
    /// `is_hashed` is `true`, the file's record includes its hash.
    #[cfg_attr(
        not(any(feature = "csv", feature = "parquet")),
        expect(unused_variables, reason = "lines of JSON have no columns")
    )]
    pub(super) fn open(
        self,
        pairing: Option<&Pairing>,
        is_hashed: bool,
    ) -> Result<RowFile, DataError> {
        // In a stream, a row does not wait for the next one.
        let is_stream = self.may_block();
        let name: Arc<Path> = self.name.into();
        let record = Arc::new(DataFileRecord::new(&name, is_hashed));
        let unreadable = |reason| DataError::unreadable(&name, &reason);
        let others = self.sources.iter().filter(|source| ***source != *name);
        let mut records = others
            .map(|source| DataFileRecord::of_source(source, is_hashed))
            .collect::<io::Result<Vec<_>>>()
            .map_err(unreadable)?;
        records.push(Arc::clone(&record));
        let options = self.options;
        let row_limit = options.row_limit.unwrap_or(ROW_LIMIT);
        let input = |content: Content| {
            let reader = content.reader(&name, &record).map_err(unreadable)?;
            Input::new(Arc::clone(&name), reader, row_limit, options.encoding)
        };
        let rows: Rows = match self.format {
            Format::Text => {
                let mut lines = TextLines::new(input(self.content)?, Kind::Plain);
                all(move || lines.next(), BatchRows::Text)
            }
            Format::Jsonl | Format::Json => {
                let mut input = input(self.content)?;
                if self.format == Format::Json || is_several_lines(input.fill()?) {
                    let mut values = JsonValues::new(input, is_stream);
                    all(move || values.next(), BatchRows::Text)
                } else {
                    let mut lines = TextLines::new(input, Kind::Line);
                    all(move || lines.next(), BatchRows::Text)
                }
            }
            #[cfg(feature = "csv")]
            Format::Csv => {
                let input = input(self.content)?;
                let columns = (options.has_escapes, options.delimiter);
                let mut file = CsvFile::new(input, columns, pairing, is_stream)?;
                record.progress().note = file.note();
                all(move || file.next(), BatchRows::Csv)
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let file = Arc::clone(&name);
                let mut file = match self.content {
                    Content::File(path) => {
                        record.hash_all(&path).map_err(unreadable)?;
                        let reader = fs::File::open(&path).map_err(unreadable)?;
                        ParquetFile::new(file, reader, row_limit, pairing)?
                    }
                    // The schema is at the end, so a stream is read into memory.
                    stream => {
                        let reader = stream.reader(&name, &record).map_err(unreadable)?;
                        let bytes = bytes::Bytes::from(whole(reader, &name, row_limit)?);
                        ParquetFile::new(file, bytes, row_limit, pairing)?
                    }
                };
                all(move || file.next(), BatchRows::Columns)
            }
        };
        Ok(RowFile {
            name,
            rows,
            rows_before: 0,
            record,
            records,
        })
    }
}

type Rows = Box<dyn Iterator<Item = Read<BatchRows>> + Send>;

fn all<R: 'static>(
    next: impl FnMut() -> Option<Read<R>> + Send + 'static,
    rows_of: fn(R) -> BatchRows,
) -> Rows {
    Box::new(iter::from_fn(next).map(move |(rows, error)| (rows_of(rows), error)))
}

/// Reads a whole stream, up to a limit.
#[cfg(feature = "parquet")]
fn whole(reader: impl io::Read, name: &Path, row_limit: usize) -> Result<Vec<u8>, DataError> {
    let limit = (row_limit.max(1 << 20) as u64).saturating_mul(STREAM_ROWS);
    let mut bytes = Vec::new();
    reader
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|reason| DataError::unreadable(name, &reason))?;
    match bytes.len() as u64 > limit {
        false => Ok(bytes),
        true => Err(DataError::new(
            DataErrorKind::TooLarge,
            format!(
                "{}: expected at most {limit} bytes of Parquet on a stream, found more; save it as a file first",
                name.display()
            ),
        )),
    }
}

impl Content {
    fn reader(
        self,
        name: &Path,
        record: &Arc<DataFileRecord>,
    ) -> io::Result<Box<dyn BufRead + Send>> {
        const BUFFER: usize = 1 << 16;
        let recorded = Some(Arc::clone(record));
        let (reader, length, recorded): (Box<dyn io::Read + Send>, _, _) = match self {
            Self::Reader(reader) => (Box::new(reader), 0, recorded),
            Self::File(path) => {
                let file = fs::File::open(&path)?;
                let length = file.metadata()?.len();
                let is_converted = path != name;
                if is_converted {
                    // The record describes the original of a converted file.
                    record.hash_all(if name.is_file() { name } else { &path })?;
                }
                (Box::new(file), length, recorded.filter(|_| !is_converted))
            }
        };
        let reader = RecordedFile::new(reader, length, recorded);
        Ok(Box::new(BufReader::with_capacity(BUFFER, reader)))
    }
}

/// The rows of an open file. A file without rows is an error.
pub(crate) struct RowFile {
    name: Arc<Path>,
    rows: Rows,
    /// The number of rows that were read.
    rows_before: u64,
    pub(super) record: Arc<DataFileRecord>,
    /// This file's record, preceded by those of the files that it was converted from.
    pub(super) records: Vec<Arc<DataFileRecord>>,
}

impl RowFile {
    /// Reads the next rows.
    pub(super) fn next_batch(&mut self) -> Option<Batch> {
        let Some((rows, error)) = self.rows.next() else {
            if self.rows_before > 0 {
                self.record.progress().rows = Some(self.rows_before);
                return None;
            }
            let message = format!(
                "{}: expected at least one row, found none; add rows",
                self.name.display()
            );
            return Some(Batch::failed(DataError::new(DataErrorKind::Empty, message)));
        };
        let rows_before = self.rows_before;
        self.rows_before += rows.len() as u64;
        Some(Batch {
            rows_before,
            ..Batch::new(Arc::clone(&self.name), rows, error)
        })
    }

    /// Decodes the rows on all threads, and calls `each` with them in order. If there is an error, the last call
    /// receives it.
    pub(crate) fn each_row<T: Send, D: From<DataError> + Send, E>(
        &mut self,
        decode: impl Fn(&RawRow<'_>) -> Result<T, D> + Sync,
        mut each: impl FnMut(Result<&mut T, D>) -> Result<(), E>,
    ) -> Result<(), E> {
        in_order(
            |batch: Batch| batch.decode(&decode),
            |rows| {
                let rows = rows.get_or_insert_default();
                let error = rows.pop_if(|row| row.is_err()).and_then(Result::err);
                rows.iter_mut()
                    .flatten()
                    .try_for_each(|row| each(Ok(row)))?;
                error.map_or(Ok(()), |error| each(Err(error)))
            },
            |pass| iter::from_fn(|| self.next_batch()).try_for_each(pass),
        )
    }
}

/// The format of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// A JSON array of objects.
    ///
    /// Concatenated objects, an object that maps ids to rows, and the `split` layout of pandas are also accepted.
    Json,
    /// Plain text, where each line is a row with one value.
    Text,
    /// CSV with a header of column names and one record per row.
    #[cfg(feature = "csv")]
    Csv,
    /// Parquet with typed columns.
    ///
    /// The column names are the same as in CSV.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// The file extensions that this build supports, for use in messages.
    #[doc(hidden)]
    pub const EXTENSIONS: &'static str = match (cfg!(feature = "csv"), cfg!(feature = "parquet")) {
        (_, true) => ".jsonl, .json, .csv or .parquet",
        (true, false) => ".jsonl, .json or .csv",
        (false, false) => ".jsonl or .json",
    };

    /// Returns the files in a folder that contain rows, sorted by name.
    ///
    /// A file contains rows if it has the extension of a row format. If `path` is a file, the result contains only that
    /// file.
    #[doc(hidden)]
    pub fn files_in(path: &Path) -> io::Result<Vec<PathBuf>> {
        if !path.is_dir() {
            return Ok(vec![path.to_owned()]);
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(path)? {
            let file = entry?.path();
            let is_manifest = file.to_string_lossy().ends_with(".manifest.json");
            if file.is_file() && !is_manifest && Self::of(&file).is_some() {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }

    /// Returns the format for a file's extension.
    ///
    /// The extensions are `jsonl`, `jsonlines`, `ndjson`, `json`, `csv`, `tsv` and, with the `parquet` feature,
    /// `parquet`. An extension can be followed by `.gz` with the `compressed` feature, or by `.zst` with the `parquet`
    /// feature.
    ///
    /// ```
    /// use dsrs_metrics::data::Format;
    ///
    /// assert_eq!(Format::of("runs/answers.JSONL".as_ref()), Some(Format::Jsonl));
    /// assert_eq!(Format::of("answers.txt".as_ref()), None);
    /// ```
    pub fn of(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            #[cfg(feature = "compressed")]
            "gz" => Self::of(&file.with_extension("")),
            #[cfg(feature = "zstd")]
            "zst" => Self::of(&file.with_extension("")),
            "jsonl" | "ndjson" | "jsonlines" => Some(Self::Jsonl),
            "json" => Some(Self::Json),
            #[cfg(feature = "csv")]
            "csv" | "tsv" => Some(Self::Csv),
            #[cfg(feature = "parquet")]
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}
