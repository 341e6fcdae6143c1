//! [`DataReader`], and the iterator of pairs that it returns.

use std::io::BufRead;
use std::path::Path;

use super::error::DataError;
use super::format::Format;
use super::input::{Apostrophes, ROW_LIMIT};
use super::mapping::Mapping;
use super::row_file::{LocatedRow, RowFile, UnopenedFile};
use crate::core::rows::pair::Pair;

/// Reads rows from files: their format, the mappings of fields, and the limit for one row.
///
/// A row is `{"id": .., "gold": {..}, "pred": {..}}`; other keys become attributes of the pair. The
/// id of a row without one is its line, or its position in a JSON array, counted from 1. If several
/// files are read, it starts with the file name and a colon.
///
/// CSV cells are strings. A metric reads each as the type of its parameter: a number as in JSON, a
/// boolean as `true`, `True`, `TRUE`, `false`, `False` or `FALSE` (not as `1` or `0`), a list or an
/// object as JSON. Of a result file, which has columns `id`, `NAME`, `NAME.outcome` and `NAME.cost_msats`, the
/// apostrophe before a string that a spreadsheet would evaluate is removed; other files are read as
/// they are.
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
    /// Returns a reader that takes the format from each file's extension and maps no fields.
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

    /// Adds a mapping: a field whose value is read from another place in the row.
    ///
    /// Mappings read the row as it is in the file, whatever other mappings set.
    #[must_use]
    pub fn with_mapping(mut self, mapping: Mapping) -> Self {
        self.mappings.push(mapping);
        self
    }

    /// Sets the limit for one row, in bytes; [`ROW_LIMIT`] by default.
    #[must_use]
    pub fn with_row_limit(mut self, bytes: usize) -> Self {
        self.row_limit = bytes;
        self
    }

    /// Returns the rows of the files in order. `-` is standard input, which is JSONL unless
    /// [`with_format`](Self::with_format) sets another format. Each file is opened after the rows
    /// of the previous one.
    ///
    /// The iterator ends after its first error. A file without rows is an error.
    ///
    /// # Errors
    /// [`DataError`] if a file does not exist, is a directory or has an unknown extension.
    pub fn read<F: AsRef<Path>>(
        &self,
        files: impl IntoIterator<Item = F>,
    ) -> Result<Pairs, DataError> {
        let files = files
            .into_iter()
            .map(|file| UnopenedFile::new(file.as_ref(), self.format))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.pairs(files))
    }

    /// Returns the rows of any reader. `name` is used in errors and origins, like a file name.
    ///
    /// ```
    /// use dsrs_metrics::data::{DataReader, Format};
    ///
    /// let bytes = br#"[{"pred": {"answer": "Paris"}}]"#;
    /// let mut pairs = DataReader::new().read_from("reply", Format::Json, &bytes[..]);
    /// let pair = pairs.next().unwrap()?;
    /// assert_eq!((pair.id.as_str(), pair.pred.get("answer").unwrap()), ("1", &"Paris".into()));
    /// # Ok::<(), dsrs_metrics::data::DataError>(())
    /// ```
    pub fn read_from(
        &self,
        name: impl AsRef<Path>,
        format: Format,
        reader: impl BufRead + Send + 'static,
    ) -> Pairs {
        self.pairs(vec![UnopenedFile::from_reader(name.as_ref(), format, reader)])
    }

    fn pairs(&self, files: Vec<UnopenedFile>) -> Pairs {
        Pairs {
            several: files.len() > 1,
            files: files.into_iter(),
            current: None,
            mappings: self.mappings.clone(),
            uses: vec![0; self.mappings.len()],
            row_limit: self.row_limit,
            ended: false,
        }
    }
}

/// The pairs of one or more files, in order; returned by [`DataReader`].
pub struct Pairs {
    files: std::vec::IntoIter<UnopenedFile>,
    current: Option<RowFile>,
    several: bool,
    mappings: Vec<Mapping>,
    /// For each mapping, the number of rows that have a value at its path.
    uses: Vec<u64>,
    row_limit: usize,
    ended: bool,
}

impl Pairs {
    /// Returns the mappings whose path no row has had so far: either a typing error, or an optional
    /// field that is always absent.
    pub fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let uses = self.mappings.iter().zip(&self.uses);
        uses.filter(|(_, rows)| **rows == 0).map(|(mapping, _)| mapping)
    }

    fn next_row(&mut self) -> Option<Result<LocatedRow, DataError>> {
        loop {
            if let Some(row) = self.current.as_mut().and_then(Iterator::next) {
                return Some(row);
            }
            match self.files.next()?.open(self.row_limit, Apostrophes::Text) {
                Ok(file) => self.current = Some(file),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn pair(&mut self, LocatedRow { row, at, number }: LocatedRow) -> Result<Pair, DataError> {
        let mut row = row.validate(&at, &self.mappings)?;
        let values: Vec<_> =
            self.mappings.iter().map(|mapping| row.find(mapping.path()).cloned()).collect();
        for ((mapping, uses), value) in self.mappings.iter().zip(&mut self.uses).zip(values) {
            *uses += u64::from(value.is_some());
            row.set(mapping, value, &at)?;
        }
        let several = self.several;
        Ok(row.into_pair(at, |at| match several {
            true => format!("{}:{number}", at.file.display()),
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
        let pair = self.next_row().map(|row| row.and_then(|row| self.pair(row)));
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
