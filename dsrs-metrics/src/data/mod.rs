//! Pairs from files: JSONL, JSON and CSV, one row at a time, in memory that does not grow with the
//! file.
//!
//! What a row looks like is in `row.rs`, how flat rows are mapped in `mapping.rs`, each format in a
//! file of its own. Nothing here knows of metrics: whether a field is what a metric needs is the
//! metric's to say. That ids are unique is seen to where they must be, in the harness.

#[cfg(feature = "csv")]
mod csv;
mod error;
mod format;
mod integers;
mod json;
mod jsonl;
mod loose;
mod mapping;
mod row;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::core::rows::pair::{Origin, Pair};
pub(crate) use loose::{LooseRow, LooseRows};
use row::Row;

pub use error::DataError;
pub use format::Format;
pub use mapping::{Mapping, MappingError};

/// The most bytes that one row may have unless [`DataReader::with_row_limit`] says otherwise: 64 MiB.
///
/// A row that is longer is nearly always a missing line end or an unclosed quote, which would
/// otherwise read the rest of the file into memory.
pub const ROW_LIMIT: usize = 64 << 20;

/// How files are read: in which format, and where a row's fields stand.
///
/// A row is `{"id": .., "gold": {..}, "pred": {..}}`; other keys become the pair's attributes. A row
/// without id is called by its line, or in a JSON array by its number from 1; if several files are
/// read, the file's name and a colon stand before it.
///
/// Cells of a CSV file are text, which a metric reads as its types ask for: a number as in JSON, a
/// boolean as `true`, `True` or `TRUE`, `false`, `False` or `FALSE` (not as `1` or `0`), a list or an
/// object as JSON.
///
/// ```
/// use dsrs_metrics::data::DataReader;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("answers.jsonl");
/// std::fs::write(&file, r#"{"id": "q1", "answers": ["Paris"], "reply": {"text": "paris"}}"#)?;
///
/// let reader = DataReader::new()
///     .with_mapping("gold.answer=answers".parse()?)
///     .with_mapping("pred.answer=reply.text".parse()?);
/// let pairs = reader.read([&file])?.collect::<Result<Vec<_>, _>>()?;
///
/// assert_eq!(pairs[0].id, "q1");
/// assert_eq!(pairs[0].gold.get("answer").unwrap()[0], "Paris");
/// assert_eq!(pairs[0].pred.get("answer").unwrap(), "paris");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct DataReader {
    format: Option<Format>,
    mappings: Vec<Mapping>,
    row_limit: usize,
}

impl Default for DataReader {
    fn default() -> Self {
        Self { format: None, mappings: Vec::new(), row_limit: ROW_LIMIT }
    }
}

impl DataReader {
    /// Formats by extension, fields where they stand.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads every file in this format, whatever its extension.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Takes a field from elsewhere in the row.
    #[must_use]
    pub fn with_mapping(mut self, mapping: Mapping) -> Self {
        self.mappings.push(mapping);
        self
    }

    /// Sets the most bytes that one row may have.
    #[must_use]
    pub fn with_row_limit(mut self, bytes: usize) -> Self {
        self.row_limit = bytes;
        self
    }

    /// The rows of the files, one file after the other; `-` is standard input, JSONL unless
    /// [`with_format`](Self::with_format) says otherwise. A file is opened when its turn comes.
    ///
    /// The iterator ends with its first error, and yields one for a file without rows.
    ///
    /// # Errors
    /// [`DataError`] for a file that is missing, a directory or of unknown format.
    pub fn read<F: AsRef<Path>>(
        &self,
        files: impl IntoIterator<Item = F>,
    ) -> Result<Pairs, DataError> {
        let inputs = files
            .into_iter()
            .map(|file| Input::new(file.as_ref(), self.format))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.pairs(inputs))
    }

    /// The rows of anything that can be read; `name` stands in messages and origins.
    pub fn read_from(
        &self,
        name: impl AsRef<Path>,
        format: Format,
        reader: impl BufRead + Send + 'static,
    ) -> Pairs {
        self.pairs(vec![Input {
            name: name.as_ref().into(),
            format,
            place: Place::Reader(Box::new(reader)),
        }])
    }

    fn pairs(&self, inputs: Vec<Input>) -> Pairs {
        Pairs {
            several: inputs.len() > 1,
            inputs: inputs.into_iter(),
            rows: None,
            mappings: self.mappings.clone(),
            mapped: vec![0; self.mappings.len()],
            row_limit: self.row_limit,
            ended: false,
        }
    }
}

type Rows = Box<dyn Iterator<Item = Result<(Row, u64), DataError>> + Send>;

/// The pairs of one or more files, in order; made by [`DataReader`].
pub struct Pairs {
    inputs: std::vec::IntoIter<Input>,
    rows: Option<OpenFile>,
    several: bool,
    mappings: Vec<Mapping>,
    mapped: Vec<u64>,
    row_limit: usize,
    ended: bool,
}

struct OpenFile {
    name: Arc<Path>,
    format: Format,
    rows: Rows,
    /// How many rows were read.
    read: u64,
}

impl Pairs {
    /// The mappings whose path no row had so far: a typing error, or an optional field that is
    /// never there.
    pub fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let used = self.mappings.iter().zip(&self.mapped);
        used.filter(|(_, rows)| **rows == 0).map(|(mapping, _)| mapping)
    }

    fn next_pair(&mut self) -> Option<Result<Pair, DataError>> {
        loop {
            let Some(file) = &mut self.rows else {
                match self.inputs.next()?.open(self.row_limit) {
                    Ok(file) => self.rows = Some(file),
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            match file.rows.next() {
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok((row, line))) => {
                    file.read += 1;
                    // All rows of a JSON file may stand in one line.
                    let number = if file.format == Format::Json { file.read } else { line };
                    let origin = Origin { file: Arc::clone(&file.name), line };
                    return Some(self.pair(row, origin, number));
                }
                None if file.read == 0 => {
                    let file = file.name.to_path_buf();
                    return Some(Err(DataError::Empty { file }));
                }
                None => self.rows = None,
            }
        }
    }

    fn pair(&mut self, row: Row, origin: Origin, number: u64) -> Result<Pair, DataError> {
        let mut row = row.check(&origin, &self.mappings)?;
        let found: Vec<_> = self.mappings.iter().map(|mapping| row.at(mapping).cloned()).collect();
        for ((mapping, used), value) in self.mappings.iter().zip(&mut self.mapped).zip(found) {
            *used += u64::from(value.is_some());
            row.put(mapping, value, &origin)?;
        }
        let several = self.several;
        Ok(row.into_pair(origin, |origin| match several {
            true => format!("{}:{number}", origin.file.display()),
            false => number.to_string(),
        }))
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let pair = self.next_pair();
        self.ended = !matches!(pair, Some(Ok(_)));
        pair
    }
}

impl std::fmt::Debug for Pairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairs")
            .field("mappings", &self.mappings)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

/// A file that is yet to be opened.
struct Input {
    name: PathBuf,
    format: Format,
    place: Place,
}

enum Place {
    File,
    StandardInput,
    Reader(Box<dyn BufRead + Send>),
}

impl Input {
    fn new(file: &Path, format: Option<Format>) -> Result<Self, DataError> {
        if file.as_os_str() == "-" {
            return Ok(Self {
                name: "<stdin>".into(),
                format: format.unwrap_or(Format::Jsonl),
                place: Place::StandardInput,
            });
        }
        let name = file.to_path_buf();
        match fs::metadata(file) {
            Err(reason) => return Err(DataError::Unreadable { file: name, reason }),
            Ok(found) if found.is_dir() => return Err(DataError::Directory { file: name }),
            Ok(_) => {}
        }
        let Some(format) = format.or_else(|| Format::of(file)) else {
            return Err(DataError::UnknownFormat { file: name });
        };
        Ok(Self { name, format, place: Place::File })
    }

    fn open(self, row_limit: usize) -> Result<OpenFile, DataError> {
        let Self { name, format, place } = self;
        let reader: Box<dyn BufRead + Send> = match place {
            Place::Reader(reader) => reader,
            Place::StandardInput => Box::new(BufReader::with_capacity(1 << 16, io::stdin())),
            Place::File => match File::open(&name) {
                Ok(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
                Err(reason) => return Err(DataError::Unreadable { file: name, reason }),
            },
        };
        let name: Arc<Path> = name.into();
        let input =
            OpenInput { file: Arc::clone(&name), reader: without_bom(reader, &name)?, row_limit };
        let rows: Rows = match format {
            Format::Jsonl => Box::new(jsonl::Lines::new(input)),
            Format::Json => Box::new(json::Elements::new(input)),
            #[cfg(feature = "csv")]
            Format::Csv => Box::new(csv::Records::new(input)?),
        };
        Ok(OpenFile { name, format, rows, read: 0 })
    }
}

/// What a format's reader starts from.
struct OpenInput {
    file: Arc<Path>,
    reader: Box<dyn BufRead + Send>,
    row_limit: usize,
}

impl OpenInput {
    fn at(&self, line: u64) -> Origin {
        Origin { file: Arc::clone(&self.file), line }
    }

    fn unreadable(&self, reason: io::Error) -> DataError {
        DataError::Unreadable { file: self.file.to_path_buf(), reason }
    }
}

fn without_bom(
    mut reader: Box<dyn BufRead + Send>,
    name: &Path,
) -> Result<Box<dyn BufRead + Send>, DataError> {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    let start = reader
        .fill_buf()
        .map_err(|reason| DataError::Unreadable { file: name.to_path_buf(), reason })?;
    // A pipe may hand over fewer bytes at first; its writer then sent the mark byte by byte, which
    // no program does.
    if start.starts_with(BOM) {
        reader.consume(BOM.len());
    }
    Ok(reader)
}
