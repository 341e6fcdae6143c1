//! [`Results`]: the rows of one result file, or of one evaluation in memory.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::error::{MAX_METRICS, ResultsError};
use super::parse::UncheckedRow;
use crate::core::metric::identity::MetricIdentity;
use crate::core::spec::{Direction, ScoreKind};
#[cfg(feature = "parquet")]
use crate::data::embedded_manifest;
use crate::data::{Format, ObjectRow, ObjectRows};
use crate::evaluate::EvaluationResult;
use crate::evaluate::manifest::{
    self, MANIFEST_SUFFIX, Manifest, ManifestError, NO_MANIFEST, REFERENCE_KEY, manifest_path,
};
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};

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
    name: String,
    rows: Vec<ResultRow>,
    by_id: HashMap<String, usize>,
    metrics: IndexMap<String, KnownMetric>,
    failure_score: f64,
    /// The manifest, or the reason why there is none.
    manifest: Result<Box<Manifest>, String>,
}

/// Properties of a metric that the rows of a run show.
#[derive(Debug, Clone, Copy, Default)]
struct KnownMetric {
    /// `None` if no row has a score.
    kind: Option<ScoreKind>,
    /// Whether a score is neither pass or fail nor a mean of repeats that are.
    has_numbers: bool,
    /// Whether a row is counted for a score of all rows, without a score of its own.
    is_counted: bool,
    /// Whether a row has a contribution to a score of all rows.
    has_corpus: bool,
}

impl KnownMetric {
    fn add(&mut self, score: &ResultScore) {
        self.is_counted |= score.outcome == ResultOutcome::Counted;
        self.has_corpus |= score.corpus.is_some();
        if score.value.is_none() {
            return;
        }
        let is_verdict = score.is_verdict();
        self.has_numbers |= !is_verdict && !score.is_share;
        self.kind = match self.kind {
            None | Some(ScoreKind::Bool) if is_verdict => Some(ScoreKind::Bool),
            _ => Some(ScoreKind::Number),
        };
    }
}

impl Results {
    /// Reads a result file: JSONL, JSON or CSV by its extension; `-` is standard input, as JSONL.
    /// In CSV, the apostrophe before a string that a spreadsheet would evaluate is removed.
    ///
    /// # Errors
    /// [`ResultsError`], with the file and the line; also if the file is not the one that its manifest describes.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, ResultsError> {
        let file = file.as_ref();
        let name = if file.as_os_str() == "-" { "<stdin>".into() } else { file.to_string_lossy() };
        let mut results = Self::new(name.into_owned());
        let mut references = Vec::new();
        for row in rows(file)? {
            let (mut row, has_id) = row?;
            if !has_id {
                return Err(ResultsError::MissingId { at: row.at() });
            }
            references.extend(row.manifest.take());
            results.add(row)?;
        }
        results.manifest = read_manifest(file, &references)?;
        if let Ok(manifest) = &results.manifest {
            results.failure_score = manifest.run.failure_score;
        }
        Ok(results)
    }

    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            rows: Vec::new(),
            by_id: HashMap::new(),
            metrics: IndexMap::new(),
            failure_score: 0.0,
            manifest: Err(NO_MANIFEST.to_owned()),
        }
    }

    pub(crate) fn add(&mut self, row: ResultRow) -> Result<(), ResultsError> {
        if let Some(first) = self.by_id.insert(row.id.clone(), self.rows.len()) {
            let (at, first) = (row.at(), self.rows[first].at().line);
            return Err(ResultsError::DuplicateId { at, id: row.id, first });
        }
        for (name, score) in &row.scores {
            self.metrics.entry(name.clone()).or_default().add(score);
        }
        if self.metrics.len() > MAX_METRICS {
            return Err(ResultsError::too_many_metrics(&row.at()));
        }
        self.rows.push(row);
        Ok(())
    }

    /// Returns the rows that are selected, with the same manifest.
    pub(crate) fn only(&self, is_selected: impl Fn(&ResultRow) -> bool) -> Self {
        let mut selected = Self { rows: Vec::new(), by_id: HashMap::new(), ..self.clone() };
        for row in self.rows.iter().filter(|row| is_selected(row)) {
            selected.by_id.insert(row.id.clone(), selected.rows.len());
            selected.rows.push(row.clone());
        }
        selected
    }

    pub(crate) fn set_manifest(&mut self, manifest: Manifest) {
        self.manifest = Ok(Box::new(manifest));
    }

    setters! {
        /// Sets the name, which is shown instead of the file.
        pub fn with_name(name: impl Into<String>) => name = name.into();

        /// Sets the score that a failed row counts as in a mean. By default it is the score in the manifest, or else 0.
        pub fn with_failure_score(score: f64) => failure_score = score;
    }

    /// Returns the path of the file, or `evaluation`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the manifest of the run: what was measured, by which metrics, on which data. `None` if it is unknown, see
    /// [`unknown_identity`](Self::unknown_identity).
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_deref().ok()
    }

    /// Returns why the run has no manifest, such as `it has no manifest`.
    #[must_use]
    pub fn unknown_identity(&self) -> Option<&str> {
        self.manifest.as_ref().err().map(String::as_str)
    }

    /// Returns the identity of a metric, which the manifest contains.
    pub(super) fn identity(&self, metric: &str) -> Option<&MetricIdentity> {
        self.manifest()?.run.metrics.get(metric)
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
        self.metrics.keys().map(String::as_str)
    }

    /// Returns whether the scores of a metric are pass or fail, or numbers. `None` if no row has a score.
    ///
    /// A file does not contain the kind: scores are pass or fail if every value is 1 for `passed: true` and 0 for
    /// `passed: false`.
    #[must_use]
    pub fn kind(&self, metric: &str) -> Option<ScoreKind> {
        self.metrics.get(metric)?.kind
    }

    /// Returns whether every score is pass or fail, or the share of a row's repeats that pass.
    pub(super) fn has_shares(&self, metric: &str) -> bool {
        self.metrics.get(metric).is_some_and(|known| known.kind.is_some() && !known.has_numbers)
    }

    /// Returns whether rows are counted for a score of all rows and have none of their own.
    pub(super) fn is_counted(&self, metric: &str) -> bool {
        self.metrics.get(metric).is_some_and(|known| known.is_counted)
    }

    /// Returns whether a row has a contribution to a score of all rows.
    pub(super) fn has_corpus(&self, metric: &str) -> bool {
        self.metrics.get(metric).is_some_and(|known| known.has_corpus)
    }

    /// Returns the score that a failed row counts as in a mean.
    #[must_use]
    pub fn failure_score(&self) -> f64 {
        self.failure_score
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
        results.failure_score = result.failure_score();
        results.manifest = Ok(result.manifest.clone());
        for row in &result.results {
            results.add(ResultRow::of(row, &names))?;
        }
        for name in &names {
            // Numbers may be 0 or 1 in every row. The mean of repeats of pass or fail may be a number.
            let is_number = result.metric(name).is_some_and(|it| it.kind == ScoreKind::Number);
            if let (true, Some(known)) = (is_number, results.metrics.get_mut(name)) {
                known.kind = known.kind.map(|_| ScoreKind::Number);
                known.has_numbers = true;
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

/// Returns whether the manifests of the runs state that lower scores of a metric are better.
pub(super) fn is_lower_better(metric: &str, runs: &[&Results]) -> bool {
    let mut known = runs.iter().filter_map(|run| run.identity(metric));
    known.any(|identity| identity.direction() == Direction::LowerIsBetter)
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
    let mut rows = ObjectRows::open(file, format).into_iter().flatten().map_while(Result::ok);
    let first = rows.next();
    if !first.as_ref().is_some_and(|row| row.is_result) && !manifest_path(file).is_file() {
        return Ok(None);
    }
    let reference =
        |row: ObjectRow| row.find(REFERENCE_KEY).and_then(Value::as_str).map(str::to_owned);
    let references = first.into_iter().chain(rows).filter_map(reference);
    let references: Vec<_> = references.filter(|reference| !reference.is_empty()).collect();
    read_manifest(file, &references).map(Some)
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

/// Returns the rows of a file, one at a time, and whether each contains its id; the id of a row without one is its
/// line.
#[doc(hidden)]
pub fn rows(
    file: &Path,
) -> Result<impl Iterator<Item = Result<(ResultRow, bool), ResultsError>>, ResultsError> {
    check_is_no_manifest(file)?;
    manifest::check_version_of(file)?;
    let mut complete = 0;
    Ok(ObjectRows::open(file, None)?.map(move |row| {
        let row = row.map_err(|error| ResultsError::of_row(error, complete))?;
        complete += 1;
        let has_id = row.has_id;
        Ok((UncheckedRow::from(row).check()?, has_id))
    }))
}
