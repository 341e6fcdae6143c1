//! Gold rows in a separate file, joined to predictions by id.
//!
//! The rows are written to a temporary file. Each one takes 16 bytes and a bit of memory: the hash of its id and where
//! it starts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
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

/// How many rows without a prediction are returned at once.
const AT_ONCE: usize = 256;

/// How many bytes of the temporary file are read at once. A prediction in another order than its gold row skips most of them.
const READ: usize = 1 << 10;

/// The columns that join gold rows to predictions, as in `gold.id=pred.instance_id`.
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

/// Determines what happens to a gold row that has no prediction.
///
/// ```
/// use dsrs_metrics::data::{DataReader, Format, Missing};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-missing-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let gold = folder.join("gold.json");
/// std::fs::write(&gold, r#"{"q1": {"answer": "Paris"}, "q2": {"answer": "Oslo"}}"#)?;
/// let preds = br#"{"id": "q1", "pred": {"answer": "paris"}}"#;
///
/// let reader = DataReader::new().with_gold(&gold);
/// let ids = |reader: &DataReader| {
///     let rows = reader.read_from("preds.jsonl", Format::Jsonl, &preds[..]);
///     rows.map(|row| Ok(row?.id)).collect::<Result<Vec<_>, dsrs_metrics::data::DataError>>()
/// };
/// assert_eq!(ids(&reader)?, ["q1", "q2"]);
/// assert_eq!(ids(&reader.with_missing(Missing::Skip))?, ["q1"]);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// Counts the row as a program failure, with the failure score.
    #[default]
    Fail,
    /// Leaves the row out.
    Skip,
}

/// The file of gold rows, which is read before the first prediction.
#[derive(Debug)]
pub(super) struct GoldFile {
    pub(super) file: Arc<Path>,
    pub(super) join: Option<Join>,
    /// `true` if rows are joined by their position, as the lines of text are.
    pub(super) is_by_position: bool,
    missing: Missing,
    rows: OnceLock<GoldRows>,
}

/// The gold rows that were read so far.
pub(super) struct GoldWriter {
    out: BufWriter<File>,
    index: Vec<(u64, u64)>,
    place: u64,
    is_textual: bool,
    has_nan: bool,
}

/// A row for the temporary file.
pub(super) struct StoredLine {
    /// The hash of its id.
    hash: u64,
    text: Vec<u8>,
    /// `true` if its values are cells.
    is_textual: bool,
    has_nan: bool,
}

/// The gold rows of a file.
#[derive(Debug)]
struct GoldRows {
    rows: Mutex<(BufReader<File>, u64)>,
    /// Hashes of ids with the places of their rows, sorted.
    index: Vec<(u64, u64)>,
    /// A bit for each row of the index that a prediction has.
    matched: Vec<AtomicU64>,
    is_textual: bool,
    has_nan: bool,
    without_gold: Mutex<WithoutGold>,
    /// Where the rows without a prediction start that are still to be returned; `None` before the last prediction.
    missing: Mutex<Option<VecDeque<u64>>>,
}

/// The predictions without a gold row: their number, and the first of them by line.
#[derive(Debug, Default)]
struct WithoutGold {
    count: u64,
    first: BTreeSet<(u64, String, Arc<Path>)>,
}

/// A gold row as it is in the temporary file, on one line.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) line: u64,
    pub(super) id: String,
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
    pub(super) fn new(
        file: PathBuf,
        join: Option<Join>,
        is_by_position: bool,
        missing: Missing,
    ) -> Self {
        Self {
            file: file.into(),
            join,
            is_by_position,
            missing,
            rows: OnceLock::new(),
        }
    }

    /// Returns `true` if any gold row has NaN or an infinity.
    pub(super) fn has_nan(&self) -> bool {
        self.rows.get().is_some_and(|rows| rows.has_nan)
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
            has_nan: false,
        })
    }

    /// Adds the next row.
    pub(super) fn add(&self, writer: &mut GoldWriter, line: &StoredLine) -> Result<(), DataError> {
        writer.is_textual |= line.is_textual;
        writer.has_nan |= line.has_nan;
        writer.index.push((line.hash, writer.place));
        writer.place += line.text.len() as u64;
        let written = writer.out.write_all(&line.text);
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
            rows: Mutex::new((BufReader::with_capacity(READ, file), writer.place)),
            matched: bits.collect(),
            index,
            is_textual: writer.is_textual,
            has_nan: writer.has_nan,
            without_gold: Mutex::default(),
            missing: Mutex::default(),
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
        let (is_textual, has_nan) = (row.attributes.textual, row.has_nan);
        let fields = match row.gold.take() {
            Some(Shape::Map(fields)) => fields,
            Some(Shape::Other(value)) => [("value", value)].into_iter().collect(),
            None => row.attributes,
        };
        let (hash, line) = (hash(&id), at.line);
        let row = fields.into_iter().collect();
        let mut text = serde_json::to_vec(&Stored { line, id, row }).unwrap_or_default();
        text.push(b'\n');
        Ok(StoredLine {
            hash,
            text,
            is_textual,
            has_nan,
        })
    }

    /// Finds the gold row of a prediction: an object of fields, or one with `value` if it is a plain value. Returns `None`, and
    /// counts the prediction, if there is none.
    pub(super) fn find(&self, id: &str, at: &Origin) -> Result<Option<Fields>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(None);
        };
        let Some(stored) = rows.find(id).map_err(|reason| self.unreadable(&reason))? else {
            let mut without = lock(&rows.without_gold);
            without.count += 1;
            let first = (at.line, id.to_owned(), Arc::clone(&at.file));
            without.first.insert(first);
            if without.first.len() > SHOWN {
                without.first.pop_last();
            }
            return Ok(None);
        };
        Ok(Some(stored.fields(rows.is_textual)))
    }

    fn unreadable(&self, reason: &io::Error) -> DataError {
        DataError::unreadable(&self.file, reason)
    }

    /// Returns the next rows that count as failed because no prediction has their ids, in the order of the file. Call this
    /// after the last prediction; `pred_path` is where its id was.
    ///
    /// # Errors
    /// Returns a [`DataError`] if no prediction has a gold row, or if lines of text differ in number.
    pub(super) fn missing(&self, pred_path: &str) -> Result<Vec<(Stored, bool)>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(Vec::new());
        };
        let mut places = lock(&rows.missing);
        if places.is_none() {
            let unmatched = rows.unmatched();
            self.check(rows, &unmatched, pred_path)?;
            *places = Some(match self.missing {
                Missing::Fail => unmatched.into(),
                Missing::Skip => VecDeque::new(),
            });
        }
        let next = places
            .iter_mut()
            .flat_map(|places| places.drain(..AT_ONCE.min(places.len())));
        let read = |place| Ok((rows.read(place)?, rows.is_textual));
        let missing: io::Result<_> = next.map(read).collect();
        missing.map_err(|reason| self.unreadable(&reason))
    }

    /// Checks that the two files belong together. `unmatched` are the places of the gold rows without a prediction.
    fn check(&self, rows: &GoldRows, unmatched: &[u64], pred_path: &str) -> Result<(), DataError> {
        let without_gold = lock(&rows.without_gold);
        let (lines, without_pred) = (rows.index.len(), unmatched.len());
        if self.is_by_position && without_pred as u64 + without_gold.count > 0 {
            let preds = (lines - without_pred) as u64 + without_gold.count;
            let message = format_args!(
                "expected as many lines as predictions, found {lines} lines for {preds} predictions; write one line for each prediction, leaving it empty if there is no text"
            );
            return Err(DataError::invalid_file(&self.file, message));
        }
        let (true, Some((line, _, file))) = (lines == without_pred, without_gold.first.first())
        else {
            return Ok(());
        };
        let golds = rows
            .first(unmatched)
            .map_err(|reason| self.unreadable(&reason))?;
        let at = Origin {
            file: Arc::clone(file),
            line: *line,
        };
        let path = self.join.as_ref().map_or("id", |join| &join.gold);
        let first = golds.first().map_or(1, |gold| gold.line);
        Err(DataError::invalid(
            &at,
            format_args!(
                "`{}`: expected ids from {}, such as {} in `{}` from line {first} on, found {}, and no prediction has a matching id; pass --join gold.COLUMN=pred.COLUMN with the columns that have the same ids",
                escape::name(pred_path),
                self.file.display(),
                escape::names(golds.iter().map(|gold| &*gold.id)),
                escape::name(path),
                escape::names(without_gold.first.iter().map(|(_, id, _)| &**id)),
            ),
        ))
    }

    /// Returns what has no partner in the other file.
    pub(super) fn notes(&self) -> Vec<String> {
        let Some(rows) = self.rows.get() else {
            return Vec::new();
        };
        let file = self.file.display();
        let note = |count: u64, what: &str, first: Vec<&str>, advice: &str| {
            let first = escape::names(first.into_iter());
            (count > 0).then(|| format!("{file}: {what}: {count}, the first {first}{advice}"))
        };
        let without_gold = lock(&rows.without_gold);
        let preds = without_gold.first.iter().map(|(_, id, _)| &**id);
        let of_preds = note(
            without_gold.count,
            "predictions without a gold row, not scored",
            preds.collect(),
            "",
        );
        let (what, advice) = match self.missing {
            Missing::Fail => (
                "gold rows without a prediction, counted as failed",
                "; pass --missing skip to leave them out",
            ),
            Missing::Skip => ("gold rows without a prediction, not scored", ""),
        };
        let unmatched = rows.unmatched();
        let golds = rows.first(&unmatched).unwrap_or_default();
        let golds = golds.iter().map(|gold| &*gold.id).collect();
        let of_golds = note(unmatched.len() as u64, what, golds, advice);
        of_preds.into_iter().chain(of_golds).collect()
    }
}

impl Stored {
    /// Returns the fields of the row. `is_textual` is `true` if they are cells.
    pub(super) fn fields(self, is_textual: bool) -> Fields {
        let mut fields: Fields = self.row.into_iter().collect();
        fields.textual = is_textual;
        if !is_textual {
            // In a prediction of cells they must not be read as cells.
            let strings = fields.iter().filter(|(_, value)| value.is_string());
            fields.strings = strings.map(|(name, _)| name.to_owned()).collect();
        }
        fields
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

    /// Returns the places of the rows that no prediction has, in the order of the file.
    fn unmatched(&self) -> Vec<u64> {
        let is_matched = |number: usize| {
            self.matched[number / 64].load(Ordering::Relaxed) >> (number % 64) & 1 == 1
        };
        let numbered = self.index.iter().enumerate();
        let unmatched = numbered.filter(|(number, _)| !is_matched(*number));
        let mut places: Vec<u64> = unmatched.map(|(_, (_, place))| *place).collect();
        places.sort_unstable();
        places
    }

    /// Reads the first rows at these places.
    fn first(&self, places: &[u64]) -> io::Result<Vec<Stored>> {
        places
            .iter()
            .take(SHOWN)
            .map(|place| self.read(*place))
            .collect()
    }
}
