//! [`Run`]: the name, the metrics and the manifest of a run. [`RowIndex`]: its ids, lines and gold rows. Reads the rows of
//! a run's file, and decodes them on all threads.
//!
//! The file is long because the name, the manifest and the index of a run are read in one pass.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::error::ResultsError;
use super::parse::checked;
use crate::contract::{Direction, MetricIdentity, Origin, ScoreKind};
use crate::data::{
    DataError, Format, NamedFile, ObjectRow, ObjectRows, RawRow, column_strings, open_objects,
};
use crate::evaluate::manifest::{
    self, MANIFEST_SUFFIX, Manifest, ManifestError, NO_MANIFEST, REFERENCE_KEY, manifest_path,
    read_manifest,
};
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};
use crate::json::MAX_VALUES;
use crate::json::read::inexact_number;
use crate::messages::escape;

/// The part name of the score over all rows, for a metric that also scores single rows.
pub(super) const CORPUS: &str = "corpus";

/// The maximum number of metrics in a run.
const MAX_METRICS: usize = 1_000;

/// The name, the metrics and the manifest of a run.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) name: String,
    metrics: IndexMap<String, KnownMetric>,
    pub(super) failure_score: f64,
    /// The manifest, or why it is missing.
    manifest: Result<Box<Manifest>, String>,
}

/// Properties of a metric, as seen in the rows of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownMetric {
    /// `true` if any score is pass or fail.
    has_verdicts: bool,
    /// `true` if any score is the share of a row's repeats that pass.
    has_shares: bool,
    /// `true` if any score is some other number.
    has_numbers: bool,
    /// `true` if any row counts towards a score over all rows but has no score of its own.
    pub(super) is_counted: bool,
    /// `true` if any row contributes to a score over all rows.
    pub(super) has_corpus: bool,
    /// `true` if any row has a named score or component with the same name as a score over all rows.
    pub(super) has_corpus_part: bool,
}

impl KnownMetric {
    /// Returns the kind of the scores, or `None` if there are no scores. Verdicts mixed with numbers count as numbers.
    pub(super) fn kind(self) -> Option<ScoreKind> {
        match self.has_numbers || self.has_shares {
            true => Some(ScoreKind::Number),
            false => self.has_verdicts.then_some(ScoreKind::Bool),
        }
    }

    /// Returns `true` if every score is pass or fail, or the share of a row's repeats that pass.
    pub(super) fn is_pass_or_fail(self) -> bool {
        !self.has_numbers && (self.has_shares || self.has_verdicts)
    }

    fn add(&mut self, score: &ResultScore) {
        self.is_counted |= score.outcome == ResultOutcome::Counted;
        self.has_corpus |= score.corpus.is_some();
        self.has_corpus_part |=
            score.parts.contains_key(CORPUS) || score.components.contains_key(CORPUS);
        let (has_score, is_verdict) = (score.value.is_some(), score.is_verdict());
        self.has_verdicts |= has_score && is_verdict;
        self.has_shares |= has_score && !is_verdict && score.is_share;
        self.has_numbers |= has_score && !is_verdict && !score.is_share;
    }
}

/// Returns the value of a key. In most rows, the key is at this position.
pub(super) fn entry<'m, V: Default>(
    map: &'m mut IndexMap<String, V>,
    place: usize,
    key: &str,
) -> &'m mut V {
    let is_here = map.get_index(place).is_some_and(|(other, _)| other == key);
    let found = match is_here {
        true => Some(place),
        false => map.get_index_of(key),
    };
    let place = found.unwrap_or_else(|| map.insert_full(key.to_owned(), V::default()).0);
    &mut map[place]
}

/// Returns the name of the run in a file.
pub(super) fn name_of<'f>(file: impl Into<NamedFile<'f>>) -> String {
    let file = file.into().name;
    match file.as_os_str() == "-" {
        true => "<stdin>".to_owned(),
        false => file.to_string_lossy().into_owned(),
    }
}

impl Run {
    pub(super) fn new(name: String) -> Self {
        let (metrics, manifest) = (IndexMap::new(), Err(NO_MANIFEST.to_owned()));
        Self {
            name,
            metrics,
            failure_score: 0.0,
            manifest,
        }
    }

    /// Reads a result file, and calls a function with each row. `shrink` is as in [`read_lines`].
    pub(super) fn read(
        file: NamedFile<'_>,
        shrink: impl Fn(&mut ResultRow) + Sync,
        mut each: impl FnMut(&mut ResultRow) -> Result<(), ResultsError>,
    ) -> Result<Self, ResultsError> {
        let mut run = Self::new(name_of(file));
        let references = read_lines(
            file,
            |_| true,
            shrink,
            |row, has_id| {
                // Rows of two files are matched by id.
                if !has_id {
                    return Err(ResultsError::read(format!(
                        "{}: no `id` in the row; write the file again with `score --out`, or add the ids",
                        row.at()
                    )));
                }
                run.add(row)?;
                each(row)
            },
        )?;
        run.set_manifest(read_manifest(file.path, &references)?);
        Ok(run)
    }

    /// Adds the metrics of a row.
    pub(super) fn add(&mut self, row: &ResultRow) -> Result<(), ResultsError> {
        for (place, (name, score)) in row.scores.iter().enumerate() {
            entry(&mut self.metrics, place, name).add(score);
        }
        match self.metrics.len() > MAX_METRICS {
            true => Err(ResultsError::read(format!(
                "{}: expected at most {MAX_METRICS} metrics in a result file, found more; write results for fewer metrics",
                row.at()
            ))),
            false => Ok(()),
        }
    }

    /// Sets the manifest and the failure score in it.
    pub(super) fn set_manifest(&mut self, manifest: Result<Box<Manifest>, String>) {
        if let Ok(manifest) = &manifest {
            self.failure_score = manifest.run.failure_score;
        }
        self.manifest = manifest;
    }

    /// Records that a metric's scores are numbers, even if each row has 0 or 1. The mean of repeats that pass or fail
    /// may be a number too.
    pub(super) fn set_number(&mut self, metric: &str) {
        if let Some(known) = self.metrics.get_mut(metric) {
            known.has_numbers |= known.kind().is_some();
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_deref().ok()
    }

    pub(super) fn unknown_identity(&self) -> Option<&str> {
        self.manifest.as_ref().err().map(String::as_str)
    }

    /// Checks that it is known what the run measured.
    pub(super) fn require_identity(&self) -> Result<(), ResultsError> {
        match &self.manifest {
            Ok(_) => Ok(()),
            Err(reason) => Err(ResultsError::unknown_identity(&self.name, reason)),
        }
    }

    /// Returns a metric's identity from the manifest.
    pub(super) fn identity(&self, metric: &str) -> Option<&MetricIdentity> {
        self.manifest()?.run.metrics.get(metric)
    }

    pub(super) fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.metrics.keys().map(String::as_str)
    }

    pub(super) fn kind(&self, metric: &str) -> Option<ScoreKind> {
        self.known(metric).kind()
    }

    /// Returns what the rows show about a metric.
    pub(super) fn known(&self, metric: &str) -> KnownMetric {
        self.metrics.get(metric).copied().unwrap_or_default()
    }
}

/// Returns `true` if the runs' manifests say that lower scores of a metric are better.
pub(super) fn is_lower_better(metric: &str, runs: &[&Run]) -> bool {
    let mut known = runs.iter().filter_map(|run| run.identity(metric));
    known.any(|identity| identity.direction() == Direction::LowerIsBetter)
}

/// The ids, lines and gold row hashes of the rows in a file.
#[doc(hidden)]
#[derive(Debug, Clone, Default)]
pub struct RowIndex {
    /// The line of each row, and the hash of its gold row, by id.
    rows: IndexMap<Box<str>, (u64, Option<u64>), foldhash::fast::RandomState>,
    file: Option<Arc<Path>>,
    /// `true` if any row has no id of its own.
    has_positional: bool,
}

impl RowIndex {
    /// Adds a row.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if an earlier row has the same id.
    pub fn add(&mut self, row: &ResultRow) -> Result<(), ResultsError> {
        let line = row.origin.as_ref().map_or(0, |origin| origin.line);
        match self.rows.entry(row.id.as_str().into()) {
            Entry::Vacant(new) => _ = new.insert((line, row.gold_hash)),
            Entry::Occupied(first) => {
                let (at, id, (first, _)) = (row.at(), escape::name(&row.id), first.get());
                return Err(ResultsError::read(format!(
                    "{at}: duplicate id `{id}`, first on line {first}; ids must be unique within a file"
                )));
            }
        }
        if let Some(origin) = &row.origin {
            self.file.get_or_insert_with(|| Arc::clone(&origin.file));
        }
        self.has_positional |= row.is_positional;
        Ok(())
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the id of the row at this position.
    pub fn id(&self, row: usize) -> &str {
        self.rows.get_index(row).map_or("", |(id, _)| id)
    }

    /// Returns the position of the row with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.rows.get_index_of(id)
    }

    /// Returns the location of the row at this position, for error messages.
    pub fn at(&self, row: usize) -> Origin {
        let unknown = || Path::new("evaluation").into();
        Origin {
            file: self.file.clone().unwrap_or_else(unknown),
            line: self.rows.get_index(row).map_or(0, |(_, (line, _))| *line),
        }
    }

    /// Returns `true` if any row is identified by its position.
    ///
    /// In that case, the data has no id for the row.
    pub fn has_positional(&self) -> bool {
        self.has_positional
    }

    /// Returns the hash of the gold row at this position.
    ///
    /// Returns `None` if the file has neither the hash nor the gold row.
    pub fn gold_hash(&self, row: usize) -> Option<u64> {
        self.rows.get_index(row)?.1.1
    }
}

/// Returns an error if the file is a manifest, or if only its manifest exists.
fn check_is_no_manifest(file: &Path) -> Result<(), ResultsError> {
    let (name, manifest) = (file.to_string_lossy(), manifest_path(file));
    let message = match name.strip_suffix(MANIFEST_SUFFIX) {
        Some(results) => {
            format!("{name}: expected a result file, found its manifest; write {results}")
        }
        None if !file.exists() && manifest.exists() => format!(
            "{name}: no such file, only its manifest {}; restore the result file, or score again",
            manifest.display()
        ),
        None => return Ok(()),
    };
    Err(ResultsError::read(message))
}

/// Reads the rows of a file in order and calls a function with each row.
///
/// The function's second argument is `true` if the row has an id of its own. Otherwise, the id is the row's number.
///
/// Returns the manifest references found in the rows.
#[doc(hidden)]
pub fn read_rows<'f, E: From<ResultsError>>(
    file: impl Into<NamedFile<'f>>,
    each: impl FnMut(&mut ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_lines(file.into(), |_| true, |_| (), each)
}

/// Reads rows like [`read_rows`], but only the lines for which `is_read` returns `true`. `shrink` drops what the caller
/// does not need, on the thread that read the row.
pub(super) fn read_lines<E: From<ResultsError>>(
    file: NamedFile<'_>,
    is_read: impl Fn(u64) -> bool + Sync,
    shrink: impl Fn(&mut ResultRow) + Sync,
    mut each: impl FnMut(&mut ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    check_is_no_manifest(file.path)?;
    manifest::check_version_of(file.path).map_err(ResultsError::from)?;
    let (mut complete, mut references) = (0, Vec::new());
    let read = |raw: &RawRow<'_>| {
        if !is_read(raw.at.line) {
            return Ok(None);
        }
        if let Some(mut row) = raw.json().and_then(|line| of_line(line, &raw.at)) {
            shrink(&mut row);
            return Ok(Some(Ok((row, true))));
        }
        let row = ObjectRow::read(raw)?;
        let has_id = row.has_id;
        Ok::<_, DataError>(Some(checked(row).map(|row| (Box::new(row), has_id))))
    };
    let mut file = open_objects(file).map_err(|error| ResultsError::of_row(error, 0))?;
    file.each_row(read, |row| {
        let row = row.map_err(|error| ResultsError::of_row(error, complete))?;
        match row {
            Some(Ok((row, has_id))) => {
                references.extend(row.manifest.take());
                complete += 1;
                each(row, *has_id)
            }
            Some(Err(_)) => row.take().transpose().map(drop).map_err(E::from),
            None => Ok(()),
        }
    })?;
    Ok(references)
}

/// Reads a line that has only the keys of a row, each at most once. Returns `None` for any other line; `parse.rs` reads
/// it and says what is wrong with it.
fn of_line(text: &str, at: &Origin) -> Option<Box<ResultRow>> {
    // More bytes than this may be more values than the limit.
    if text.len() > 2 * MAX_VALUES {
        return None;
    }
    let mut row = ResultRow::of_json(text).ok()?;
    row.origin = Some(at.clone());
    inexact_number(text).is_none().then_some(row)
}

/// Returns the manifest of a result file, or the reason the file has none.
///
/// The result is `None` if the file is not a result file. The search stops at the first row that cannot be read.
///
/// # Errors
/// Returns a [`ManifestError`] if the file does not match its manifest.
#[doc(hidden)]
pub fn manifest_of(
    file: &Path,
    format: Option<Format>,
) -> Result<Option<Result<Box<Manifest>, String>>, ManifestError> {
    manifest::check_version_of(file)?;
    let first = ObjectRows::open(file, format)
        .ok()
        .and_then(|mut rows| rows.next()?.ok());
    if !first.is_some_and(|row| row.is_result) && !manifest_path(file).is_file() {
        return Ok(None);
    }
    // The last row of each run contains the reference to its manifest.
    let mut references = column_strings(file, format, REFERENCE_KEY);
    references.retain(|reference| !reference.is_empty());
    read_manifest(file, &references).map(Some)
}

#[cfg(test)]
mod tests {
    //! Lines that serde reads give the same row as the general parser, and lines that the parser rejects are not read.

    use std::path::Path;

    use super::*;
    use crate::data::ObjectRow;
    use crate::results::ResultsError;

    const LINES: [&str; 6] = [
        r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1.0,"passed":true,"confidence":1.0,"details":"a \"b\" é","feedback":null,"cost_msats":0}}}"#,
        r#"{"id":"7","gold":{"answer":"x","n":[1,2.5]},"pred":{},"latency_s":0.25,"input_tokens":10,"output_tokens":2,"cost_msats":5,"scores":{"f1":{"outcome":"scored","value":0.5,"passed":null,"parts":{"precision":0.25,"corpus":1}}},"attributes":{"topic":"a","empty":null}}"#,
        r#"{"id":"a","gold":null,"pred":{"answer":"y"},"scores":{"judge":{"outcome":"scored","value":1,"passed":false,"metadata":{"judge":"offline","judges":[{"judge":"m","replied_by":[]}]},"missing":["answer"],"components":{"c":{"outcome":"gated","value":null,"passed":null}}}},"manifest":"1-abc"}"#,
        r#"{"id":"b","scores":{"em":{"outcome":"metric_failed","value":null,"passed":null,"error":"no answer"},"f1":{"outcome":"gated","gated_by":"em","budget_msats":3}},"repeats":[{"scores":{"em":{"value":1,"passed":true}}}],"traceback":"at"}"#,
        r#"{"id":"c","scores":{"rouge":{"outcome":"counted","value":null,"corpus":{"formula":"edit_rate","counts":[1,4]}},"a.b":{"outcome":"skipped"}},"gold_hash":"00000000000000a1"}"#,
        r#"{ "id" : "d" , "scores" : { "em" : { "value" : 2 , "outcome" : "abstained" } } }"#,
    ];

    fn at() -> Origin {
        Origin {
            file: Path::new("run.jsonl").into(),
            line: 1,
        }
    }

    fn parsed(line: &str) -> Result<ResultRow, ResultsError> {
        checked(ObjectRow::parse(line, &at())?)
    }

    /// Returns `true` if serde reads the line, with the same result as the general parser.
    fn is_read(line: &str) -> bool {
        let row = of_line(line, &at());
        if let Some(row) = &row {
            let expected = parsed(line).unwrap_or_else(|error| panic!("{line}\n{error}"));
            assert_eq!(**row, expected, "{line}");
        }
        row.is_some()
    }

    #[test]
    fn lines_of_a_run_are_read() {
        assert_eq!(LINES.map(is_read), [true; 6]);
    }

    #[test]
    fn changed_lines_are_read_as_by_the_parser() {
        let changes = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", " ", "n", "\u{1}",
        ];
        let additions = [
            "\"",
            "0",
            ",",
            "\"id\":1,",
            "\"value\":3,",
            "null",
            "\\ud800",
            "1e400",
        ];
        let (mut read, mut others) = (0, 0);
        for line in LINES {
            for place in (0..line.len()).filter(|place| line.is_char_boundary(*place)) {
                let (start, end) = line.split_at(place);
                let rest = end
                    .chars()
                    .next()
                    .map_or("", |first| &end[first.len_utf8()..]);
                let changed = changes.iter().map(|with| format!("{start}{with}{rest}"));
                let added = additions.iter().map(|with| format!("{start}{with}{end}"));
                let cut = [start.to_owned(), format!("{start}{rest}")];
                for line in changed.chain(added).chain(cut) {
                    if is_read(&line) {
                        read += 1;
                    } else {
                        others += 1;
                    }
                }
            }
        }
        assert!(read > 3_000 && others > 10_000, "{read} {others}");
    }
}
