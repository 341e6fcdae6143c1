//! [`DataReader`] and the iterator over pairs that it returns. Also groups rows with the same id, as in HumanEval and
//! tau-bench, into samples of one row.
//!
//! The file is long because it documents each setting of one type with an example.

use std::convert::Infallible;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;

use super::batch::{Batch, BatchRows, RawRow};
use super::data_file::DataFiles;
use super::error::{DataError, invalid};
use super::gold::{GoldFile, Join, Missing};
use super::input::Encoding;
use super::mapping::{Conversion, Mapping};
use super::object_rows::ObjectRows;
use super::pairing::Pairing;
use super::row::REPEAT;
use super::row_file::{FileOptions, Format, NamedFile, RowFile, RowSource};
use super::selection::FieldSelection;
use crate::contract::{Metric, MetricSpec, Origin, Pair, Prediction};
use crate::json::text;
use crate::messages::escape;

/// The number of gold rows without a prediction that are read at once.
const AT_ONCE: usize = 256;

/// A reader for files that contain rows.
///
/// You can choose the format, map fields and limit the size of a row.
///
/// Each row is an object such as `{"id": .., "gold": {..}, "pred": {..}}`. Other keys become attributes of the pair.
///
/// If a row has no id, its id is its number in the file, counted from 1. See [`Pair::is_positional`]. If you read
/// several files, the number is prefixed with the file name and a colon.
///
/// You can also read a result file that contains gold rows and predictions. Each pair then holds the scored row and its
/// attributes. [`run`](Pair::run) holds the program's latency, tokens and cost. The scores are ignored.
///
/// The cells of a CSV file are strings, and a metric parses each cell as the type of its parameter. Numbers, lists and
/// objects are written as in JSON. Booleans are `true`, `True`, `TRUE`, `false`, `False` or `FALSE`, but not `1` or
/// `0`.
///
/// A CSV file with the columns `id`, `NAME`, `NAME.outcome` and `NAME.cost_msats` is a result file.
///
/// In result files, spreadsheet formulas are escaped with a leading apostrophe, which the reader removes. Other files
/// are read unchanged.
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
#[derive(Debug, Clone, Default)]
pub struct DataReader {
    options: FileOptions,
    gold: Option<PathBuf>,
    join: Option<Join>,
    missing: Missing,
    mappings: Vec<Mapping>,
    conversions: Vec<Conversion>,
    selection: Option<FieldSelection>,
}

impl DataReader {
    /// Creates a reader with the default settings.
    ///
    /// The extension of each file selects its format. No fields are mapped.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the format of all files, regardless of their extensions.
        pub fn with_format(format: Format) => options.format = Some(format);

        /// Sets the character that separates the columns of CSV files.
        ///
        /// By default, the reader detects the separator from the header. It can be a comma, `;`, a tab or `|`.
        pub fn with_delimiter(delimiter: u8) => options.delimiter = Some(delimiter);

        /// Sets the text encoding of the files.
        ///
        /// The default is UTF-8.
        ///
        /// ```
        /// use dsrs_metrics::data::{DataReader, Encoding, Format};
        ///
        /// let excel = b"id;gold.answer;pred.answer\r\n1;Z\xFCrich;Z\xFCrich\r\n";
        /// let reader = DataReader::new().with_encoding(Encoding::Windows1252);
        /// # if cfg!(feature = "csv") {
        /// let row = reader.read_from("excel.csv", Format::of("excel.csv".as_ref()).unwrap(), &excel[..]).next().unwrap()?;
        /// assert_eq!(row.gold.get("answer").unwrap(), "Zürich");
        /// # }
        /// # Ok::<(), dsrs_metrics::data::DataError>(())
        /// ```
        pub fn with_encoding(encoding: Encoding) => options.encoding = encoding;

        /// Sets a separate file of gold rows to join to the predictions by id.
        ///
        /// The gold row is the `gold` field of a row in that file. If there is no `gold` field, the whole row is the gold
        /// row.
        ///
        /// A gold row without a prediction fails, unless you [skip it](Self::with_missing). A prediction without a gold row
        /// is left out. [`EvaluationResult::notes`](crate::EvaluationResult::notes) reports both counts.
        ///
        /// The gold rows are copied to a temporary file, so only their ids stay in memory.
        ///
        /// ```
        /// use dsrs_metrics::data::DataReader;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-gold-{}", std::process::id()));
        /// # std::fs::create_dir_all(&folder)?;
        /// let [gold, preds] = ["gold.jsonl", "preds.json"].map(|name| folder.join(name));
        /// std::fs::write(&gold, r#"{"id": "q1", "answer": "Paris"}"#)?;
        /// std::fs::write(&preds, r#"[{"question_id": "q1", "pred": {"answer": "paris"}}]"#)?;
        ///
        /// let reader = DataReader::new().with_gold(&gold).with_join("gold.id=pred.question_id".parse()?);
        /// let row = reader.read([&preds])?.next().unwrap()?;
        /// assert_eq!((&*row.id, row.gold.get("answer").unwrap()), ("q1", &"Paris".into()));
        /// # std::fs::remove_dir_all(folder)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn with_gold(file: impl Into<PathBuf>) => gold = Some(file.into());

        /// Sets the columns that join gold rows to predictions.
        ///
        /// The default is `id` on both sides.
        pub fn with_join(join: Join) => join = Some(join);

        /// Sets what to do with gold rows that have no prediction.
        ///
        /// By default, gold rows without a prediction fail. [`read`](Self::read) returns them with empty predictions, after
        /// the rows that have predictions.
        pub fn with_missing(missing: Missing) => missing = missing;

        /// Sets the maximum size of a row, in bytes.
        ///
        /// The default is [`ROW_LIMIT`](super::ROW_LIMIT).
        pub fn with_row_limit(bytes: usize) => options.row_limit = Some(bytes);
    }

    /// Adds a mapping that reads a field's value from elsewhere in the row.
    ///
    /// Mappings always read the original row. They don't see the values that other mappings set.
    pub fn with_mapping(mut self, mapping: Mapping) -> Self {
        self.mappings.push(mapping);
        self
    }

    /// Adds a field conversion.
    ///
    /// Conversions run after all mappings.
    pub fn with_conversion(mut self, conversion: Conversion) -> Self {
        self.conversions.push(conversion);
        self
    }

    /// Limits decoding of JSONL and Parquet rows to these fields and those that mappings read. Rows that are invalid or
    /// lack a required field are decoded completely.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn with_selection(mut self, selection: FieldSelection) -> Self {
        self.selection = Some(selection);
        self
    }

    /// Sets the fields to decode from JSONL and Parquet rows.
    ///
    /// Each field is a `(side, name, required)` tuple.
    #[cfg(fuzzing)]
    #[doc(hidden)]
    pub fn with_selected_fields(
        self,
        fields: &[(crate::contract::spec::Side, &str, bool)],
    ) -> Self {
        let mut selection = FieldSelection::default();
        for (side, name, is_required) in fields {
            selection.add_field(*side, name, *is_required);
        }
        self.with_selection(selection)
    }

    /// Returns the rows of the files, in order.
    ///
    /// A file is opened only after the previous one has been read to its end.
    ///
    /// The path `-` is standard input. It is read as JSONL unless you set another format with
    /// [`with_format`](Self::with_format).
    ///
    /// The iterator ends after its first error.
    ///
    /// A file without rows is an error.
    ///
    /// # Errors
    /// Returns a [`DataError`] if a file does not exist, is a directory or has an unknown extension.
    pub fn read<F: AsRef<Path>>(
        &self,
        files: impl IntoIterator<Item = F>,
    ) -> Result<Pairs, DataError> {
        let files: Vec<F> = files.into_iter().collect();
        self.read_named(files.iter().map(NamedFile::from))
    }

    /// Returns the rows of files with custom display names.
    ///
    /// This is like [`read`](Self::read), but messages show each file's `name` instead of its path.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    #[doc(hidden)]
    pub fn read_named<'f>(
        &self,
        files: impl IntoIterator<Item = NamedFile<'f>>,
    ) -> Result<Pairs, DataError> {
        let open = |file| RowSource::new(file, self.options);
        Ok(self.pairs(files.into_iter().map(open).collect::<Result<Vec<_>, _>>()?))
    }

    /// Returns the rows from any byte reader.
    ///
    /// Error messages and row locations show `name` as the file name.
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
        let (name, options) = (name.as_ref(), self.options);
        self.pairs(vec![RowSource::from_reader(name, format, options, reader)])
    }

    fn pairs(&self, files: Vec<RowSource>) -> Pairs {
        let gold = self.gold.as_ref().map(|gold| GoldFile {
            file: gold.as_path().into(),
            join: self.join.clone(),
            is_by_position: self.options.format == Some(Format::Text),
            missing: self.missing,
            rows: OnceLock::new(),
        });
        let mut pairing = Pairing {
            several: files.len() > 1,
            used: self.mappings.iter().map(|_| <_>::default()).collect(),
            mappings: self.mappings.clone(),
            conversions: self.conversions.clone(),
            gold,
            ..Pairing::default()
        };
        if let Some(selection) = &self.selection {
            pairing.select(selection.clone());
        }
        Pairs::new(files, pairing, self.options)
    }

    /// Returns the rows of a file as objects.
    ///
    /// Each row can be an object with any keys. The path `-` is standard input.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    #[doc(hidden)]
    pub fn read_objects(&self, file: &Path) -> Result<ObjectRows, DataError> {
        ObjectRows::open_with(file, self.options)
    }

    /// Returns the rows of a devset, with empty predictions. The gold row is `gold`, or the whole row except its id if
    /// it has neither `gold` nor `pred`.
    pub(crate) fn read_examples(file: &Path) -> Result<Pairs, DataError> {
        let pairing = Pairing {
            are_examples: true,
            ..Pairing::default()
        };
        let options = FileOptions::default();
        let files = vec![RowSource::new(file, options)?];
        Ok(Pairs::new(files, pairing, options))
    }
}

/// An iterator over the pairs from one or more files, in order.
///
/// This iterator is created by [`DataReader`].
pub struct Pairs {
    files: std::vec::IntoIter<RowSource>,
    current: Option<RowFile>,
    pairing: Arc<Pairing>,
    /// How the file of gold rows is read.
    options: FileOptions,
    /// The records of the files opened so far.
    records: DataFiles,
    /// `true` if file contents are hashed.
    is_hashed: bool,
    /// The rows of the current batch.
    decoded: std::vec::IntoIter<Result<Pair, DataError>>,
    has_ended: bool,
    /// Tells when all batches are decoded: each one holds a clone of the sender. The sender here is `None` after the
    /// last prediction.
    until_decoded: (Option<Sender<Infallible>>, Receiver<Infallible>),
    /// The positions and lines of the gold rows without a prediction, or `None` before the last prediction.
    without_pred: Option<std::vec::IntoIter<(usize, u64)>>,
}

impl Pairs {
    fn new(files: Vec<RowSource>, pairing: Pairing, options: FileOptions) -> Self {
        let (sender, receiver) = channel();
        Self {
            files: files.into_iter(),
            current: None,
            pairing: Arc::new(pairing),
            options,
            records: DataFiles::default(),
            is_hashed: false,
            decoded: Vec::new().into_iter(),
            has_ended: false,
            until_decoded: (Some(sender), receiver),
            without_pred: None,
        }
    }

    /// Returns the mappings whose paths have not been found in any row so far.
    ///
    /// The path may be misspelled, or it may lead to an optional field that no row has.
    pub fn unused_mappings(&self) -> impl Iterator<Item = &Mapping> {
        self.pairing.unused_mappings()
    }

    /// Limits decoding to these fields. Call this before the first row is read.
    pub(crate) fn with_selection(mut self, selection: FieldSelection) -> Self {
        if let Some(pairing) = Arc::get_mut(&mut self.pairing) {
            pairing.select(selection);
        }
        self
    }

    /// Sets the metrics of the run. Call this before the first row is read.
    pub(crate) fn with_read<'s>(mut self, specs: impl Iterator<Item = MetricSpec<'s>>) -> Self {
        if let Some(pairing) = Arc::get_mut(&mut self.pairing) {
            pairing.set_read(specs);
        }
        self
    }

    /// Hashes the contents of the files. Call this before the first row is read.
    pub(crate) fn with_hashes(mut self) -> Self {
        self.is_hashed = true;
        self
    }

    /// Returns the records of the files. A record is added when its file is opened.
    pub(crate) fn data_files(&self) -> DataFiles {
        self.records.clone()
    }

    /// Returns `true` if reading may block for a long time, as with a pipe.
    pub(crate) fn may_block(&self) -> bool {
        self.files.as_slice().iter().any(RowSource::may_block)
    }

    pub(crate) fn pairing(&self) -> &Arc<Pairing> {
        &self.pairing
    }

    /// Reads the file of gold rows, before the first prediction.
    fn load_gold(&self) -> Result<(), DataError> {
        let gold = self.pairing.gold.as_ref();
        let Some(gold) = gold.filter(|gold| gold.rows.get().is_none()) else {
            return Ok(());
        };
        let mut file = RowSource::new(&gold.file, self.options)?.open(None, self.is_hashed)?;
        self.records.add(&file.records);
        let stored = |row: &RawRow<'_>| gold.stored(row.read(None)?, &row.at, row.number);
        gold.load(|add| file.each_row(stored, add))
    }

    /// Returns the next gold rows without a prediction, or `None` if there are none left.
    fn without_pred(&mut self) -> Option<Batch> {
        let gold = self.pairing.gold.as_ref()?;
        let missing = match &mut self.without_pred {
            Some(missing) => missing,
            none => match gold.missing(self.pairing.join_path(gold)) {
                Ok(missing) => none.insert(missing.into_iter()),
                Err(error) => return Some(Batch::failed(error)),
            },
        };
        let rows: Vec<_> = missing.take(AT_ONCE).collect();
        let batch = |rows| Batch::new(Arc::clone(&gold.file), BatchRows::Gold(rows), None);
        Some(rows).filter(|rows| !rows.is_empty()).map(batch)
    }

    /// Returns the next rows, for the caller to decode. An error ends the rows.
    pub(crate) fn next_batch(&mut self) -> Option<Batch> {
        loop {
            if let Some(batch) = self.current.as_mut().and_then(RowFile::next_batch) {
                let _until_decoded = self.until_decoded.0.clone();
                return Some(Batch {
                    _until_decoded,
                    ..batch
                });
            }
            if let Err(error) = self.load_gold() {
                return Some(Batch::failed(error));
            }
            let Some(file) = self.files.next() else {
                self.current = None;
                self.until_decoded.0 = None;
                // Returns once no batch is left, because nothing is ever sent.
                let _ = self.until_decoded.1.recv();
                return self.without_pred();
            };
            match file.open(Some(&*self.pairing), self.is_hashed) {
                Ok(file) => {
                    self.records.add(&file.records);
                    self.current = Some(file);
                }
                Err(error) => return Some(Batch::failed(error)),
            }
        }
    }
}

impl Iterator for Pairs {
    type Item = Result<Pair, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_ended && self.decoded.as_slice().is_empty() {
            match self.next_batch() {
                Some(batch) => {
                    let pairs = batch.decode(|row| row.pair(&self.pairing)).into_iter();
                    let pairs: Vec<_> = pairs.filter_map(Result::transpose).collect();
                    self.decoded = pairs.into_iter();
                }
                None => self.has_ended = true,
            }
        }
        let pair = self.decoded.next();
        self.has_ended |= matches!(pair, Some(Err(_)));
        pair
    }
}

impl std::fmt::Debug for Pairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pairs")
            .field("pairing", &self.pairing)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

/// Rows grouped by id, each with its samples.
///
/// This is returned by [`Pairs::into_samples`]. Rows with the same id in the files are samples of one row.
///
/// A gold row without a prediction has no samples.
///
/// All rows are held in memory.
#[derive(Debug)]
pub struct Samples {
    pub(crate) rows: Vec<(Pair, Vec<Prediction>)>,
    pub(crate) files: DataFiles,
    pub(crate) pairing: Arc<Pairing>,
    repeats: u32,
}

impl Samples {
    /// Returns the largest number of samples that any row has.
    ///
    /// Pass this number to [`EvaluateBuilder::repeats`](crate::EvaluateBuilder::repeats).
    pub fn repeats(&self) -> u32 {
        self.repeats
    }
}

impl Pairs {
    /// Reads all rows and groups them into samples by id.
    ///
    /// To specify the column that holds the sample numbers, add the mapping `repeat=COLUMN`.
    ///
    /// ```
    /// use dsrs_metrics::data::{DataReader, Format};
    /// use dsrs_metrics::{Evaluate, metrics::Em};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let rows = br#"{"id": "t1", "n": 0, "gold": {"answer": "a"}, "pred": {"answer": "a"}}
    /// {"id": "t1", "n": 1, "gold": {"answer": "a"}, "pred": {"answer": "b"}}"#;
    /// let reader = DataReader::new().with_mapping("repeat=n".parse()?);
    /// let samples = reader.read_from("rows.jsonl", Format::Jsonl, &rows[..]).into_samples()?;
    ///
    /// let em = Em::default();
    /// let evaluate = Evaluate::builder().metric(em).repeats(samples.repeats()).build()?;
    /// let result = evaluate.score_samples(samples).await?;
    /// assert_eq!((result.rows, result.score), (1, Some(0.5)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns a [`DataError`] if a row cannot be read or has no sample number. It is also an error if two samples of a
    /// row have the same number or different gold rows.
    pub fn into_samples(self) -> Result<Samples, DataError> {
        let (files, pairing) = (self.data_files(), Arc::clone(self.pairing()));
        let mut rows: IndexMap<String, (Pair, IndexMap<String, Prediction>)> = IndexMap::new();
        for pair in self.with_hashes() {
            let mut pair = pair?;
            if pairing.lacks_pred(&pair) {
                rows.insert(pair.id.clone(), (pair, IndexMap::new()));
                continue;
            }
            let unknown = || Origin {
                file: Path::new("rows").into(),
                line: 0,
            };
            let at = pair.origin.clone().unwrap_or_else(unknown);
            let number = pair.attributes.remove(REPEAT).and_then(text);
            let number = number.ok_or_else(|| {
                DataError::invalid(&at, "expected the sample's number at the path from --map repeat=PATH, found no value; name the column that numbers the samples of an id")
            })?;
            let id = escape::name(&pair.id).to_string();
            if let Some((first, _)) = rows.get(&pair.id)
                && first.gold != pair.gold
            {
                let first = first.origin.as_ref().map_or(0, |at| at.line);
                return Err(invalid!(
                    &at,
                    "this sample of `{id}` has a different gold row from line {first}; pass --map id=PATH with an id that identifies the row"
                ));
            }
            let pred = std::mem::take(&mut pair.pred);
            let samples = rows.entry(pair.id.clone());
            let (_, preds) = samples.or_insert_with(|| (pair, IndexMap::new()));
            if preds.insert(number.clone(), pred).is_some() {
                let number = escape::name(&number);
                return Err(invalid!(
                    &at,
                    "duplicate sample `{number}` for id `{id}`; give each sample of an id a different number, or pass --map id=COLUMN,COLUMN if the id spans several columns"
                ));
            }
        }
        let most = rows.values().map(|(_, preds)| preds.len()).max();
        let samples = |(pair, preds): (Pair, IndexMap<_, _>)| (pair, preds.into_values().collect());
        Ok(Samples {
            rows: rows.into_values().map(samples).collect(),
            files,
            pairing,
            repeats: most.and_then(|most| u32::try_from(most).ok()).unwrap_or(0),
        })
    }

    /// Sets the metrics that determine how fields are decoded.
    ///
    /// Call this method before you read the first row.
    #[doc(hidden)]
    pub fn for_metrics(self, metrics: &[Arc<dyn Metric>]) -> Self {
        self.with_read(metrics.iter().map(|metric| metric.spec()))
    }
}
