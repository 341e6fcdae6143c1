//! Gold rows in a separate file, joined to predictions by id.
//!
//! The rows are written to a temporary file. Only their ids and where they start stay in memory.
//!
//! The file is long because the file, the join by id and the errors of both are read together.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::{Map, Value};

use super::data_file::lock;
use super::error::{DataError, invalid};
use super::mapping::{MappingError, is_id};
use super::row::{RowObject, id_of};
use crate::contract::{Fields, Origin};
use crate::json::read::Shape;
use crate::messages::escape;

/// The number of ids that a message shows.
const SHOWN: usize = 5;

/// The number of bytes of the temporary file that are read at once. If predictions are in a different order than their
/// gold rows, most of these bytes are skipped.
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
            MappingError::from(format!(
                "invalid join `{join}`: expected gold.PATH=pred.PATH, as in gold.id=pred.instance_id"
            ))
        })?;
        Ok(Self { gold, pred })
    }
}

/// Determines what to do with a gold row that has no prediction.
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
    /// The row counts as a program failure and gets the failure score.
    #[default]
    Fail,
    /// The row is left out.
    Skip,
}

/// The file of gold rows, which is read before the first prediction.
#[derive(Debug)]
pub(super) struct GoldFile {
    pub(super) file: Arc<Path>,
    pub(super) join: Option<Join>,
    /// `true` if rows are joined by their position, as lines of text are.
    pub(super) is_by_position: bool,
    pub(super) missing: Missing,
    pub(super) rows: OnceLock<GoldRows>,
}

/// A gold row in the temporary file.
#[derive(Debug)]
struct GoldRow {
    /// The position where the row starts.
    place: u64,
    /// The row's line in the file of gold rows.
    line: u64,
    /// `true` once the row has been joined to a prediction.
    is_matched: AtomicBool,
}

/// A row for the temporary file.
pub(super) struct StoredLine {
    id: String,
    at: Origin,
    text: Vec<u8>,
    /// `true` if the row's values are cells.
    is_textual: bool,
    has_nan: bool,
}

/// A function that adds the next row, or receives the error if the row could not be read.
pub(super) type AddRow<'a> =
    dyn FnMut(Result<&mut StoredLine, DataError>) -> Result<(), DataError> + 'a;

/// The gold rows of a file.
#[derive(Debug)]
pub(super) struct GoldRows {
    /// The temporary file and the position of its next byte.
    file: Mutex<(BufReader<File>, u64)>,
    /// The rows by id, in the order of the file.
    rows: IndexMap<Box<str>, GoldRow>,
    is_textual: bool,
    has_nan: bool,
    without_gold: Mutex<WithoutGold>,
}

/// How many predictions have no gold row, and the first of them by line.
#[derive(Debug, Default)]
struct WithoutGold {
    count: u64,
    first: BTreeSet<(u64, String, Arc<Path>)>,
}

impl GoldFile {
    /// Returns `true` if any gold row contains NaN or an infinity.
    pub(super) fn has_nan(&self) -> bool {
        self.rows.get().is_some_and(|rows| rows.has_nan)
    }

    /// Copies the rows to a temporary file. `each_row` calls its argument with each row.
    ///
    /// # Errors
    /// Returns a [`DataError`] if two rows have the same id.
    pub(super) fn load(
        &self,
        each_row: impl FnOnce(&mut AddRow<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let unwritable = |reason: &io::Error| {
            let message = format_args!("cannot be copied to a temporary file: {reason}");
            DataError::invalid_file(&self.file, message)
        };
        let out = tempfile::tempfile().map_err(|reason| unwritable(&reason))?;
        let (mut out, mut place) = (BufWriter::new(out), 0);
        let mut rows: IndexMap<Box<str>, GoldRow> = IndexMap::new();
        let (mut is_textual, mut has_nan) = (false, false);
        each_row(&mut |row| {
            let row = row?;
            is_textual |= row.is_textual;
            has_nan |= row.has_nan;
            match rows.entry(row.id.as_str().into()) {
                Entry::Occupied(first) => {
                    return Err(invalid!(
                        &row.at,
                        "duplicate id `{}`, first on line {}; ids must be unique in the gold file; remove one, or join by another column with --join",
                        escape::name(first.key()),
                        first.get().line
                    ));
                }
                Entry::Vacant(new) => new.insert(GoldRow {
                    place,
                    line: row.at.line,
                    is_matched: AtomicBool::new(false),
                }),
            };
            place += row.text.len() as u64;
            out.write_all(&row.text)
                .map_err(|reason| unwritable(&reason))
        })?;
        let file = out.into_inner();
        let file = file.map_err(|error| unwritable(error.error()))?;
        let rows = GoldRows {
            file: Mutex::new((BufReader::with_capacity(READ, file), place)),
            rows,
            is_textual,
            has_nan,
            without_gold: Mutex::default(),
        };
        // Only one thread reads batches.
        let _ = self.rows.set(rows);
        Ok(())
    }

    /// Returns a row in its stored form. `number` is the row's number in the file.
    pub(super) fn stored(
        &self,
        mut row: RowObject,
        at: &Origin,
        number: u64,
    ) -> Result<StoredLine, DataError> {
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
        let fields: Map<String, Value> = fields.into_iter().collect();
        let mut text = serde_json::to_vec(&fields).unwrap_or_default();
        text.push(b'\n');
        Ok(StoredLine {
            id,
            at: at.clone(),
            text,
            is_textual,
            has_nan,
        })
    }

    /// Finds the gold row for a prediction. A plain value is returned as an object with the field `value`. If there is
    /// no gold row, counts the prediction and returns `None`.
    pub(super) fn find(&self, id: &str, at: &Origin) -> Result<Option<Fields>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(None);
        };
        let Some(row) = rows.rows.get(id) else {
            let mut without = lock(&rows.without_gold);
            without.count += 1;
            let first = (at.line, id.to_owned(), Arc::clone(&at.file));
            without.first.insert(first);
            if without.first.len() > SHOWN {
                without.first.pop_last();
            }
            return Ok(None);
        };
        row.is_matched.store(true, Ordering::Relaxed);
        self.fields(rows, row).map(Some)
    }

    /// Returns the id and the fields of the row at a position.
    pub(super) fn row(&self, position: usize) -> Result<Option<(String, Fields)>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(None);
        };
        let row = rows.rows.get_index(position);
        row.map(|(id, row)| Ok((id.to_string(), self.fields(rows, row)?)))
            .transpose()
    }

    fn fields(&self, rows: &GoldRows, row: &GoldRow) -> Result<Fields, DataError> {
        let fields = rows.read(row);
        fields.map_err(|reason| DataError::unreadable(&self.file, &reason))
    }

    /// Returns the positions and lines of the rows that count as failed because no prediction has their id. Call this
    /// after the last prediction. `pred_path` is the path of the ids in the predictions.
    ///
    /// # Errors
    /// Returns a [`DataError`] if no prediction has a gold row, or if two text files have different numbers of lines.
    pub(super) fn missing(&self, pred_path: &str) -> Result<Vec<(usize, u64)>, DataError> {
        let Some(rows) = self.rows.get() else {
            return Ok(Vec::new());
        };
        self.check(rows, pred_path)?;
        let unmatched = rows.unmatched().map(|(place, _, row)| (place, row.line));
        Ok(match self.missing {
            Missing::Fail => unmatched.collect(),
            Missing::Skip => Vec::new(),
        })
    }

    /// Checks that the two files belong together.
    fn check(&self, rows: &GoldRows, pred_path: &str) -> Result<(), DataError> {
        let without_gold = lock(&rows.without_gold);
        let (lines, without_pred) = (rows.rows.len(), rows.unmatched().count());
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
        let at = Origin {
            file: Arc::clone(file),
            line: *line,
        };
        let golds: Vec<&str> = rows.unmatched().take(SHOWN).map(|(_, id, _)| id).collect();
        Err(invalid!(
            &at,
            "`{}`: expected ids from {}, such as {}, found {}, and no prediction has a matching id; pass --join gold.COLUMN=pred.COLUMN with the columns that have the same ids",
            escape::name(pred_path),
            self.file.display(),
            escape::names(golds.into_iter()),
            escape::names(without_gold.first.iter().map(|(_, id, _)| &**id)),
        ))
    }

    /// Returns notes about rows that have no partner in the other file.
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
        let golds: Vec<&str> = rows.unmatched().map(|(_, id, _)| id).collect();
        let first = golds.iter().take(SHOWN).copied().collect();
        let of_golds = note(golds.len() as u64, what, first, advice);
        of_preds.into_iter().chain(of_golds).collect()
    }
}

/// Creates the error for a row that lacks the id to join it by.
pub(super) fn without_id(row: &RowObject, path: &str, at: &Origin) -> DataError {
    let keys: Vec<&str> = row.attributes.keys().collect();
    let guess = keys.iter().find(|key| is_id(key)).unwrap_or(&"COLUMN");
    let guess = escape::name(guess);
    invalid!(
        at,
        "expected an id at `{}`, found a row with {}; pass --join gold.{guess}=pred.{guess}, with the columns that have the same ids in both files",
        escape::name(path),
        escape::names(keys.into_iter())
    )
}

impl GoldRows {
    /// Reads the fields of a row from the temporary file.
    fn read(&self, row: &GoldRow) -> io::Result<Fields> {
        let mut file = lock(&self.file);
        let (file, at) = &mut *file;
        // If rows have the same order in both files, they are read from the buffer.
        let distance = i64::try_from(row.place).and_then(|to| Ok(to - i64::try_from(*at)?));
        file.seek_relative(distance.map_err(io::Error::other)?)?;
        let mut line = Vec::new();
        *at = row.place + file.read_until(b'\n', &mut line)? as u64;
        let fields: Map<String, Value> = serde_json::from_slice(&line)?;
        let mut fields = Fields::from_iter(fields);
        fields.textual = self.is_textual;
        if !self.is_textual {
            // If the prediction has cells, these strings must not be parsed as cells.
            let strings = fields.iter().filter(|(_, value)| value.is_string());
            let strings = strings.map(|(name, _)| name.to_owned()).collect();
            fields.special_mut().strings = strings;
        }
        Ok(fields)
    }

    /// Returns the rows without a prediction, with their positions and ids.
    fn unmatched(&self) -> impl Iterator<Item = (usize, &str, &GoldRow)> {
        let rows = self.rows.iter().enumerate();
        let rows = rows.filter(|(_, (_, row))| !row.is_matched.load(Ordering::Relaxed));
        rows.map(|(place, (id, row))| (place, &**id, row))
    }
}
