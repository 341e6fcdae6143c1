//! Gold rows in a separate file, joined to predictions by id.
//!
//! The rows are written to a temporary file. Each one takes 16 bytes and a bit of memory: the hash of its id and where
//! it starts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use twox_hash::XxHash3_128;

use super::error::DataError;
use super::guess::id_columns;
use super::mapping::MappingError;
use super::row::{Row, RowObject, id_of, into_object};
use crate::contract::{Fields, Origin};
use crate::json::unique_keys::Shape;
use crate::messages::escape;

/// How many ids a message shows.
const SHOWN: usize = 5;

/// Which columns join gold rows and predictions: `gold.id=pred.instance_id`.
///
/// ```
/// use dsrs_metrics::data::Join;
///
/// let join: Join = "gold.id=pred.instance_id".parse()?;
/// assert_eq!(format!("{join:?}"), r#"Join { gold: "id", pred: "instance_id" }"#);
/// let error = "id=instance_id".parse::<Join>().unwrap_err();
/// assert_eq!(error.to_string(), "invalid join `id=instance_id`: expected gold.PATH=pred.PATH, as in gold.id=pred.instance_id");
/// # Ok::<(), dsrs_metrics::data::MappingError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    pub(super) gold: String,
    pub(super) pred: String,
}

impl FromStr for Join {
    type Err = MappingError;

    fn from_str(join: &str) -> Result<Self, MappingError> {
        let paths = join.split_once('=').and_then(|(gold, pred)| {
            let (gold, pred) = (gold.strip_prefix("gold.")?, pred.strip_prefix("pred.")?);
            (!gold.is_empty() && !pred.is_empty()).then(|| (gold.to_owned(), pred.to_owned()))
        });
        let (gold, pred) = paths.ok_or_else(|| {
            MappingError::new(format!(
                "invalid join `{join}`: expected gold.PATH=pred.PATH, as in gold.id=pred.instance_id"
            ))
        })?;
        Ok(Self { gold, pred })
    }
}

/// The file of gold rows, which is read before the first prediction.
#[derive(Debug)]
pub(super) struct GoldFile {
    pub(super) file: PathBuf,
    pub(super) join: Option<Join>,
    /// `true` if rows are joined by their position, as the lines of text are.
    pub(super) is_by_position: bool,
    rows: OnceLock<GoldRows>,
}

/// The gold rows that were read so far.
pub(super) struct GoldWriter {
    out: BufWriter<File>,
    index: Vec<(u64, u64)>,
    place: u64,
    is_textual: bool,
}

/// The hash of a row's id, its line in the temporary file, and `true` if its values are cells.
type StoredLine = (u64, Vec<u8>, bool);

/// The gold rows of a file.
#[derive(Debug)]
struct GoldRows {
    rows: Mutex<(BufReader<File>, u64)>,
    /// Hashes of ids with the places of their rows, sorted.
    index: Vec<(u64, u64)>,
    /// A bit for each row of the index that a prediction has.
    matched: Vec<AtomicU64>,
    is_textual: bool,
    without_gold: Mutex<WithoutGold>,
}

/// The predictions without a gold row: their number, and the first of them by line.
#[derive(Debug, Default)]
struct WithoutGold {
    count: u64,
    first: BTreeSet<(u64, String)>,
}

/// A gold row as it is in the temporary file, on one line.
#[derive(Serialize, Deserialize)]
struct Stored {
    line: u64,
    id: String,
    row: Map<String, Value>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::cast_possible_truncation, reason = "half of the hash")]
fn hash(id: &str) -> u64 {
    XxHash3_128::oneshot(id.as_bytes()) as u64
}

impl GoldFile {
    pub(super) fn new(file: PathBuf, join: Option<Join>, is_by_position: bool) -> Self {
        let rows = OnceLock::new();
        Self {
            file,
            join,
            is_by_position,
            rows,
        }
    }

    /// Returns `true` if the rows were read.
    pub(super) fn is_loaded(&self) -> bool {
        self.rows.get().is_some()
    }

    fn unwritable(&self, reason: &io::Error) -> DataError {
        let message = format_args!("cannot be copied to a temporary file: {reason}");
        DataError::invalid_file(&self.file, message)
    }

    /// Creates the temporary file.
    pub(super) fn writer(&self) -> Result<GoldWriter, DataError> {
        let out = tempfile::tempfile().map_err(|reason| self.unwritable(&reason))?;
        Ok(GoldWriter {
            out: BufWriter::new(out),
            index: Vec::new(),
            place: 0,
            is_textual: false,
        })
    }

    /// Adds the next row.
    pub(super) fn add(
        &self,
        writer: &mut GoldWriter,
        (hash, line, is_textual): StoredLine,
    ) -> Result<(), DataError> {
        writer.is_textual |= is_textual;
        writer.index.push((hash, writer.place));
        writer.place += line.len() as u64;
        let written = writer.out.write_all(&line);
        written.map_err(|reason| self.unwritable(&reason))
    }

    /// Makes the rows ready to be found.
    pub(super) fn finish(&self, writer: GoldWriter) -> Result<(), DataError> {
        let file = writer.out.into_inner();
        let file = file.map_err(|error| self.unwritable(error.error()))?;
        let mut index = writer.index;
        index.sort_unstable();
        let bits = iter::repeat_with(AtomicU64::default).take(index.len().div_ceil(64));
        let rows = GoldRows {
            rows: Mutex::new((BufReader::new(file), writer.place)),
            matched: bits.collect(),
            index,
            is_textual: writer.is_textual,
            without_gold: Mutex::default(),
        };
        rows.check_unique(&self.file)?;
        // Only one thread reads batches.
        let _ = self.rows.set(rows);
        Ok(())
    }

    /// Returns a row as it is stored, with its number in the file.
    pub(super) fn stored(
        &self,
        row: Row,
        at: &Origin,
        number: u64,
    ) -> Result<StoredLine, DataError> {
        let mut row = into_object(row, at)?;
        let path = self.join.as_ref().map_or("id", |join| &join.gold);
        let id = match row.find(path) {
            Some(id) => id_of(id.into_owned(), at)?,
            None if self.is_by_position => number.to_string(),
            None => return Err(without_id(&row, path, at)),
        };
        let is_textual = row.attributes.textual;
        let fields = match row.gold.take() {
            Some(Shape::Map(fields)) => fields,
            Some(Shape::Other(value)) => [("value", value)].into_iter().collect(),
            None => row.attributes,
        };
        let (hash, line) = (hash(&id), at.line);
        let row = fields.into_iter().collect();
        let mut text = serde_json::to_vec(&Stored { line, id, row }).unwrap_or_default();
        text.push(b'\n');
        Ok((hash, text, is_textual))
    }

    /// Finds the gold row of a prediction: an object of fields, or one with `value` if it is a plain value. Returns `None`, and
    /// counts the prediction, if there is none.
    pub(super) fn find(&self, id: &str, at: &Origin) -> Result<Option<Fields>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(None);
        };
        let unreadable = |reason: io::Error| DataError::unreadable(&self.file, &reason);
        let Some(stored) = rows.find(id).map_err(unreadable)? else {
            let mut without = lock(&rows.without_gold);
            without.count += 1;
            without.first.insert((at.line, id.to_owned()));
            if without.first.len() > SHOWN {
                without.first.pop_last();
            }
            return Ok(None);
        };
        let mut fields: Fields = stored.row.into_iter().collect();
        fields.textual = rows.is_textual;
        if !rows.is_textual {
            // In a prediction of cells they must not be read as cells.
            let strings = fields.iter().filter(|(_, value)| value.is_string());
            fields.strings = strings.map(|(name, _)| name.to_owned()).collect();
        }
        Ok(Some(fields))
    }

    /// Returns what the join left out, or why it left out everything.
    pub(super) fn left_out(&self) -> Result<Vec<String>, String> {
        let Some(rows) = self.rows.get() else {
            return Ok(Vec::new());
        };
        let without_gold = lock(&rows.without_gold);
        let first: Vec<&str> = without_gold.first.iter().map(|(_, id)| &**id).collect();
        let (without_pred, golds) = rows.without_pred().unwrap_or_default();
        let golds: Vec<&str> = golds.iter().map(String::as_str).collect();
        let file = self.file.display();
        if without_pred == rows.index.len() as u64 && without_gold.count > 0 {
            return Err(format!(
                "{file}: no gold row has the same id as a prediction: the gold ids are {}, and the prediction ids are {}; pass --join gold.COLUMN=pred.COLUMN with the columns that have the same ids",
                escape::names(golds.into_iter()),
                escape::names(first.into_iter())
            ));
        }
        if self.is_by_position && without_pred + without_gold.count > 0 {
            let lines = rows.index.len() as u64;
            let preds = lines - without_pred + without_gold.count;
            return Err(format!(
                "{file}: expected as many lines as predictions, found {lines} lines for {preds} predictions; write one line for each prediction, leaving it empty if there is no text"
            ));
        }
        let mut lines = Vec::new();
        let mut line = |count: u64, what: &str, ids: Vec<&str>| {
            if count > 0 {
                let ids = escape::names(ids.into_iter());
                lines.push(format!(
                    "{file}: {what}, not scored: {count}, the first {ids}"
                ));
            }
        };
        line(without_gold.count, "predictions without a gold row", first);
        line(without_pred, "gold rows without a prediction", golds);
        Ok(lines)
    }
}

/// Returns the error for a row without the id that joins it.
pub(super) fn without_id(row: &RowObject, path: &str, at: &Origin) -> DataError {
    let keys: Vec<&str> = row.attributes.keys().collect();
    let guess = id_columns(keys.iter().copied()).next().unwrap_or("COLUMN");
    let guess = escape::name(guess);
    DataError::invalid(
        at,
        format_args!(
            "expected an id at `{}`, found a row with {}; pass --join gold.{guess}=pred.{guess}, with the columns that have the same ids in both files",
            escape::name(path),
            escape::names(keys.into_iter())
        ),
    )
}

impl GoldRows {
    /// Reads the row at a place of the temporary file.
    fn read(&self, place: u64) -> io::Result<Stored> {
        let mut rows = lock(&self.rows);
        let (file, at) = &mut *rows;
        // Rows in the same order in both files are read from the buffer.
        let distance = i64::try_from(place).and_then(|to| Ok(to - i64::try_from(*at)?));
        file.seek_relative(distance.map_err(io::Error::other)?)?;
        let mut line = Vec::new();
        *at = place + file.read_until(b'\n', &mut line)? as u64;
        Ok(serde_json::from_slice(&line)?)
    }

    fn find(&self, id: &str) -> io::Result<Option<Stored>> {
        let hash = hash(id);
        let first = self.index.partition_point(|(other, _)| *other < hash);
        let same = self.index[first..]
            .iter()
            .take_while(|(other, _)| *other == hash);
        for (number, (_, place)) in (first..).zip(same) {
            let stored = self.read(*place)?;
            if stored.id == id {
                self.matched[number / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// Checks that each id occurs once.
    fn check_unique(&self, file: &Path) -> Result<(), DataError> {
        let (mut count, mut first) = (0, BTreeMap::new());
        for two in self.index.windows(2).filter(|two| two[0].0 == two[1].0) {
            let stored = |place| {
                self.read(place)
                    .map_err(|reason| DataError::unreadable(file, &reason))
            };
            let (one, other) = (stored(two[0].1)?, stored(two[1].1)?);
            if one.id == other.id {
                count += 1;
                first.insert(other.line, (other.id, one.line));
                if first.len() > SHOWN {
                    first.pop_last();
                }
            }
        }
        let Some((line, (id, before))) = first.first_key_value() else {
            return Ok(());
        };
        let at = Origin {
            file: Arc::from(file),
            line: *line,
        };
        let ids = escape::names(first.values().map(|(id, _)| id.as_str()));
        Err(DataError::invalid(
            &at,
            format_args!(
                "duplicate id `{}`, first on line {before}; ids must be unique in the gold file (duplicates: {count}, the first {ids}); remove them, or join by another column with --join",
                escape::name(id)
            ),
        ))
    }

    /// Returns how many gold rows no prediction has, and the first ids of them.
    fn without_pred(&self) -> io::Result<(u64, Vec<String>)> {
        let is_matched = |number: usize| {
            self.matched[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
        };
        let (mut count, mut first) = (0, Vec::new());
        for (_, (_, place)) in self
            .index
            .iter()
            .enumerate()
            .filter(|(it, _)| !is_matched(*it))
        {
            count += 1;
            let at = first.partition_point(|other| other < place);
            if at < SHOWN {
                first.insert(at, *place);
                first.truncate(SHOWN);
            }
        }
        let ids = first.into_iter().map(|place| Ok(self.read(place)?.id));
        Ok((count, ids.collect::<io::Result<_>>()?))
    }
}
