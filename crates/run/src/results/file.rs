//! [`Results`]: the rows of one result file, or of one evaluation in memory.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::error::ResultsError;
use super::parse::UncheckedRow;
use super::run::{Run, name_of};
use super::scan::{Reads, Shape};
use crate::core::rows::pair::Origin;
use crate::core::spec::ScoreKind;
#[cfg(feature = "csv")]
use crate::data::csv_column;
use crate::data::{DataError, Format, ObjectRow, ObjectRows, read_objects};
#[cfg(feature = "parquet")]
use crate::data::{column_texts, embedded_manifest};
use crate::evaluate::EvaluationResult;
use crate::evaluate::manifest::{
    self, MANIFEST_SUFFIX, Manifest, ManifestError, REFERENCE_KEY, manifest_path,
};
use crate::evaluate::report::ResultRow;
use crate::json::scanner::Scanner;

/// The rows of one run: a result file, or an [`EvaluationResult`] in memory.
///
/// ```
/// use dsrs_metrics::results::Results;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-results-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let file = folder.join("run.jsonl");
/// std::fs::write(&file, r#"{"id": "q1", "scores": {"f1": {"outcome": "scored", "value": 0.8}}}"#)?;
///
/// let results = Results::read(&file)?;
/// assert_eq!(results.metrics().collect::<Vec<_>>(), ["f1"]);
/// assert_eq!(results.row("q1").unwrap().scores["f1"].value, Some(0.8));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Results {
    pub(super) run: Run,
    rows: Vec<ResultRow>,
    by_id: HashMap<String, usize>,
}

impl Results {
    /// Reads a result file: JSONL, JSON or CSV by its extension; `-` is standard input, as JSONL.
    /// In CSV, the apostrophe before a string that a spreadsheet would evaluate is removed.
    ///
    /// # Errors
    /// [`ResultsError`], with the file and the line; also if the file is not the one that its manifest describes.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, ResultsError> {
        let file = file.as_ref();
        let mut results = Self::new(name_of(file));
        let add = |rows: &mut Vec<ResultRow>, row: &mut ResultRow, has_id: bool| {
            check_has_id(row, has_id)?;
            rows.push(std::mem::take(row));
            Ok(())
        };
        let references = read_rows(file, Reads::all(), Vec::new, add, |rows| {
            rows.into_iter().try_for_each(|row| results.add(row))
        })?;
        results.run.set_manifest(read_manifest(file, &references)?);
        Ok(results)
    }

    pub(crate) fn new(name: String) -> Self {
        Self { run: Run::new(name), rows: Vec::new(), by_id: HashMap::new() }
    }

    pub(crate) fn add(&mut self, row: ResultRow) -> Result<(), ResultsError> {
        if let Some(first) = self.by_id.insert(row.id.clone(), self.rows.len()) {
            let (at, first) = (row.at(), self.rows[first].at().line);
            return Err(ResultsError::DuplicateId { at, id: row.id, first });
        }
        self.run.add(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Returns the rows that are selected, with the same manifest.
    pub(crate) fn only(&self, is_selected: impl Fn(&ResultRow) -> bool) -> Self {
        let run = self.run.clone();
        let mut selected = Self { run, rows: Vec::new(), by_id: HashMap::new() };
        for row in self.rows.iter().filter(|row| is_selected(row)) {
            selected.by_id.insert(row.id.clone(), selected.rows.len());
            selected.rows.push(row.clone());
        }
        selected
    }

    pub(crate) fn set_manifest(&mut self, manifest: Manifest) {
        self.run.set_manifest(Ok(Box::new(manifest)));
    }

    setters! {
        /// Sets the name, which is shown instead of the file.
        pub fn with_name(name: impl Into<String>) => run.name = name.into();

        /// Sets the score that a failed row counts as in a mean. By default it is the score in the manifest, or else 0.
        pub fn with_failure_score(score: f64) => run.failure_score = score;
    }

    /// Returns the path of the file, or `evaluation`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.run.name()
    }

    /// Returns the manifest of the run: what was measured, by which metrics, on which data. `None` if it is unknown, see
    /// [`unknown_identity`](Self::unknown_identity).
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.run.manifest()
    }

    /// Returns why the run has no manifest, such as `it has no manifest`.
    #[must_use]
    pub fn unknown_identity(&self) -> Option<&str> {
        self.run.unknown_identity()
    }

    /// Returns the rows in the order of the file.
    #[must_use]
    pub fn rows(&self) -> &[ResultRow] {
        &self.rows
    }

    /// Returns the row with this id.
    #[must_use]
    pub fn row(&self, id: &str) -> Option<&ResultRow> {
        self.by_id.get(id).map(|row| &self.rows[*row])
    }

    /// Returns the metrics in the order of the file.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.run.metrics()
    }

    /// Returns whether the scores of a metric are pass or fail, or numbers. `None` if no row has a score.
    ///
    /// A file does not contain the kind: scores are pass or fail if every value is 1 for `passed: true` and 0 for
    /// `passed: false`.
    #[must_use]
    pub fn kind(&self, metric: &str) -> Option<ScoreKind> {
        self.run.kind(metric)
    }

    /// Returns the score that a failed row counts as in a mean.
    #[must_use]
    pub fn failure_score(&self) -> f64 {
        self.run.failure_score
    }

    /// Returns the rows of an evaluation, which has the same format as a file with its gold rows and predictions.
    ///
    /// # Errors
    /// [`ResultsError`] if the evaluation kept no rows, or two of them have the same id.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    /// use dsrs_metrics::results::Results;
    /// use dsrs_metrics::{Evaluate, rows::Pair};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
    /// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
    /// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
    ///
    /// let results = Results::of(&result)?;
    /// assert_eq!(results.row("q1").unwrap().scores["same"].passed, Some(true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn of<G: Serialize, P: Serialize>(
        result: &EvaluationResult<G, P>,
    ) -> Result<Self, ResultsError> {
        let names: Vec<String> = result.metric_names().map(str::to_owned).collect();
        let mut results = Self::new("evaluation".to_owned());
        results.run.set_manifest(Ok(result.manifest.clone()));
        results.run.failure_score = result.failure_score();
        for row in &result.results {
            results.add(ResultRow::of(row, &names))?;
        }
        for name in &names {
            if result.metric(name).is_some_and(|it| it.kind == ScoreKind::Number) {
                results.run.set_number(name);
            }
        }
        if results.rows.is_empty() { Err(ResultsError::NoRows) } else { Ok(results) }
    }
}

impl<G: Serialize, P: Serialize> TryFrom<&EvaluationResult<G, P>> for Results {
    type Error = ResultsError;

    fn try_from(result: &EvaluationResult<G, P>) -> Result<Self, ResultsError> {
        Self::of(result)
    }
}

/// Returns the manifest of a result file, or the reason why there is none. `references` are the references that its rows
/// contain.
#[doc(hidden)]
pub fn read_manifest(
    file: &Path,
    references: &[String],
) -> Result<Result<Box<Manifest>, String>, ManifestError> {
    if file.as_os_str() == "-" {
        return Ok(Err("standard input has no manifest".to_owned()));
    }
    #[cfg(feature = "parquet")]
    let embedded = match Format::of(file) {
        Some(Format::Parquet) => embedded_manifest(file),
        _ => None,
    };
    #[cfg(not(feature = "parquet"))]
    let embedded = None;
    manifest::find(file, references, embedded)
}

/// Returns the manifest of a file of rows, or the reason why there is none; `None` if it is not a result file. A row that
/// cannot be read ends the search.
///
/// # Errors
/// [`ManifestError`] if the file is not the one that its manifest describes.
#[doc(hidden)]
pub fn manifest_of(
    file: &Path,
    format: Option<Format>,
) -> Result<Option<Result<Box<Manifest>, String>>, ManifestError> {
    manifest::check_version_of(file)?;
    let first = ObjectRows::open(file, format).ok().and_then(|mut rows| rows.next()?.ok());
    if !first.is_some_and(|row| row.is_result) && !manifest_path(file).is_file() {
        return Ok(None);
    }
    read_manifest(file, &references(file, format)).map(Some)
}

/// Returns the references of manifests in the rows of a file, up to the first row that cannot be read.
fn references(file: &Path, format: Option<Format>) -> Vec<String> {
    let mut references = match format.or_else(|| Format::of(file)) {
        #[cfg(feature = "csv")]
        Some(Format::Csv) => csv_column(file, REFERENCE_KEY),
        #[cfg(feature = "parquet")]
        Some(Format::Parquet) => column_texts(file, REFERENCE_KEY),
        _ => json_references(file, format),
    };
    references.retain(|reference| !reference.is_empty());
    references
}

fn json_references(file: &Path, format: Option<Format>) -> Vec<String> {
    let mut references = Vec::new();
    let scan = |found: &mut Vec<String>, text: &str, _: &dyn Fn() -> Origin| {
        let before = found.len();
        let is_scanned = scan_reference(text, found).is_some();
        if !is_scanned {
            found.truncate(before);
        }
        Ok(is_scanned)
    };
    let add = |found: &mut Vec<String>, row: ObjectRow| {
        found.extend(row.find(REFERENCE_KEY).and_then(Value::as_str).map(str::to_owned));
        Ok::<_, DataError>(())
    };
    let merge = |found, error: Option<DataError>| {
        references.extend(found);
        error.map_or(Ok(()), Err)
    };
    let _ = read_objects(file, format, Vec::new, scan, add, merge);
    references
}

fn scan_reference(text: &str, found: &mut Vec<String>) -> Option<()> {
    let mut scanner = Scanner::new(text)?;
    scanner.object(|scanner, key| match key {
        REFERENCE_KEY => {
            found.push(scanner.plain_string()?.to_owned());
            Some(())
        }
        _ => scanner.skip(),
    })?;
    scanner.is_at_end().then_some(())
}

/// Returns an error if the file is a manifest, or if there is only the manifest of it.
fn check_is_no_manifest(file: &Path) -> Result<(), ResultsError> {
    let manifest = manifest_path(file);
    if !file.exists() && manifest.exists() {
        return Err(ResultsError::OnlyManifest { file: file.to_owned(), manifest });
    }
    match file.to_str().and_then(|path| path.strip_suffix(MANIFEST_SUFFIX)) {
        Some(results) => {
            let (manifest, results) = (file.to_owned(), results.into());
            Err(ResultsError::IsManifest { manifest, results })
        }
        None => Ok(()),
    }
}

/// Rows of two files are matched by their ids.
pub(super) fn check_has_id(row: &ResultRow, has_id: bool) -> Result<(), ResultsError> {
    if has_id { Ok(()) } else { Err(ResultsError::MissingId { at: row.at() }) }
}

/// Reads the rows of a file in blocks, which are made on all threads, and calls `merge` with them in order. `add` adds a row to a
/// block, with whether it contains its id; the id of a row without one is its line. It may take the content of the row.
/// Returns the references of manifests that the rows contain.
#[doc(hidden)]
pub fn read_rows<B: Send, E: From<ResultsError> + Send>(
    file: &Path,
    reads: Reads,
    new: impl Fn() -> B + Sync,
    add: impl Fn(&mut B, &mut ResultRow, bool) -> Result<(), E> + Sync,
    merge: impl FnMut(B) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_selected(file, reads, |_| true, new, add, merge)
}

/// Reads the rows in these lines, as [`read_rows`].
#[cfg(feature = "html")]
pub(super) fn read_lines<B: Send, E: From<ResultsError> + Send>(
    file: &Path,
    reads: Reads,
    is_read: impl Fn(u64) -> bool + Sync,
    new: impl Fn() -> B + Sync,
    add: impl Fn(&mut B, &mut ResultRow, bool) -> Result<(), E> + Sync,
    merge: impl FnMut(B) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_selected(file, reads, |at| is_read(at().line), new, add, merge)
}

fn read_selected<B: Send, E: From<ResultsError> + Send>(
    file: &Path,
    reads: Reads,
    is_read: impl Fn(&dyn Fn() -> Origin) -> bool + Sync,
    new: impl Fn() -> B + Sync,
    add: impl Fn(&mut B, &mut ResultRow, bool) -> Result<(), E> + Sync,
    mut merge: impl FnMut(B) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    check_is_no_manifest(file)?;
    manifest::check_version_of(file).map_err(ResultsError::from)?;
    let (mut complete, mut references) = (0, Vec::new());
    let new = || Block {
        rows: new(),
        scanned: ResultRow::default(),
        shape: Shape::new(reads),
        complete: 0,
        references: Vec::new(),
    };
    let add = |block: &mut Block<B>, mut row: ResultRow, has_id: bool| {
        block.references.extend(row.manifest.take());
        block.complete += 1;
        add(&mut block.rows, &mut row, has_id).map_err(Failure::Row)?;
        Ok::<_, Failure<E>>(row)
    };
    read_objects(
        file,
        None,
        new,
        |block, text, at| {
            if !is_read(at) {
                return Ok(true);
            }
            let mut row = std::mem::take(&mut block.scanned);
            let is_scanned = block.shape.scan(text, at, &mut row).is_some();
            block.scanned = if is_scanned { add(block, row, true)? } else { row };
            Ok(is_scanned)
        },
        |block, row| {
            if !is_read(&|| row.at.clone()) {
                return Ok(());
            }
            let has_id = row.has_id;
            let row =
                UncheckedRow::from(row).check().map_err(|error| Failure::Row(error.into()))?;
            add(block, row, has_id).map(|_| ())
        },
        |block, error| {
            complete += block.complete;
            references.extend(block.references);
            merge(block.rows).map_err(Failure::Row)?;
            match error {
                Some(Failure::Data(error)) => {
                    Err(Failure::Row(ResultsError::of_row(error, complete).into()))
                }
                Some(error) => Err(error),
                None => Ok(()),
            }
        },
    )
    .map_err(|error| match error {
        Failure::Data(error) => ResultsError::from(error).into(),
        Failure::Row(error) => error,
    })?;
    Ok(references)
}

/// Rows that follow each other.
struct Block<B> {
    rows: B,
    /// The memory of the last row that was scanned.
    scanned: ResultRow,
    shape: Shape,
    complete: u64,
    references: Vec<String>,
}

/// Why a block ends.
enum Failure<E> {
    Data(DataError),
    Row(E),
}

impl<E> From<DataError> for Failure<E> {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}
