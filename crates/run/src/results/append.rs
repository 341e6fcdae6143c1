//! Adding the scores of other metrics to a result file.

use std::path::{Path, PathBuf};

use super::error::ResultsError;
use super::file_manifest::manifest_of;
use super::read_rows::read_rows;
use super::scan::Reads;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::counted::Counted;
use crate::data::Format as DataFormat;
use crate::evaluate::manifest::{Commit, Manifest, ProcessManifest, program_hash};
use crate::evaluate::report::{Format, Lines, ResultFiles, record_line, written_score};
use crate::evaluate::{Ending, EvaluateError, EvaluationResult};
use crate::messages::escape;

/// Why metrics cannot be added to a run.
#[doc(hidden)]
#[derive(thiserror::Error)]
pub enum AppendError {
    #[error(
        "{}: the identity of its metrics is unknown: {reason}; restore the manifest, or write the scores to another file \
         with --out, without --append",
        file.display()
    )]
    NoManifest { file: PathBuf, reason: String },
    #[error("{}: expected a file written by `score --out FILE --with-rows`, found another one", file.display())]
    NotResults { file: PathBuf },
    #[error("{}: the run has scores of `{}` already; leave the metric out", file.display(), escape::name(metric))]
    HasMetric { file: PathBuf, metric: String },
    #[error(
        "{}: the run evaluated each row {repeats} times; write the scores to another file with --out, without --append",
        file.display()
    )]
    Repeats { file: PathBuf, repeats: u32 },
    #[error("{}: unknown extension; expected {}", file.display(), DataFormat::EXTENSIONS)]
    UnknownFormat { file: PathBuf },
    #[error("{}: the file changed while its rows were scored; score it again", file.display())]
    Changed { file: PathBuf },
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
}

dsrs_metrics_values::debug_as_display!(AppendError);

/// A result file to which metrics are added. The new file has all scores; it appears under its name when it is complete.
#[doc(hidden)]
pub struct Append {
    files: ResultFiles,
    run: PathBuf,
    manifest: Manifest,
    commit: Commit,
}

impl Append {
    /// Checks that these metrics can be added to the run, and that the new file can be written: `run` itself, or another one.
    ///
    /// # Errors
    /// [`AppendError`]. Nothing is written yet.
    pub fn create(
        run: &Path,
        out: &Path,
        metrics: &[String],
        escape_formulas: bool,
    ) -> Result<Self, AppendError> {
        let file = || run.to_path_buf();
        let unknown = || AppendError::UnknownFormat { file: out.to_path_buf() };
        let format = match DataFormat::of(out).ok_or_else(unknown)? {
            DataFormat::Jsonl => Format::JsonLines,
            DataFormat::Json => Format::Json,
            #[cfg(feature = "csv")]
            DataFormat::Csv => Format::Csv,
            #[cfg(feature = "parquet")]
            DataFormat::Parquet => Format::Parquet,
        };
        // Before the manifest is read: another run that adds metrics would change it.
        let files = ResultFiles::create(&[(format, out.to_path_buf())], escape_formulas)?;
        let files = files.ok_or_else(unknown)?;
        let manifest = manifest_of_run(run)?;
        if let Some(name) = metrics.iter().find(|name| manifest.run.metrics.contains_key(*name)) {
            return Err(AppendError::HasMetric { file: file(), metric: name.clone() });
        }
        if let Some(repeats) = manifest.run.repeats {
            return Err(AppendError::Repeats { file: file(), repeats });
        }
        Ok(Self { files, run: file(), manifest, commit: Commit::start() })
    }

    /// Returns the score that a failed row of the run counts as in a mean.
    #[must_use]
    pub fn failure_score(&self) -> f64 {
        self.manifest.run.failure_score
    }

    /// Writes the rows of the run with the scores of the result as well. Does nothing if the result does not have all rows.
    ///
    /// # Errors
    /// [`AppendError`]. The file remains as it was.
    pub fn finish(
        mut self,
        result: &EvaluationResult<Example, Prediction>,
    ) -> Result<(), AppendError> {
        if result.ending != Ending::Complete {
            return Ok(());
        }
        let changed = || AppendError::Changed { file: self.run.clone() };
        let current = manifest_of_run(&self.run)?;
        if current.file != self.manifest.file {
            return Err(changed());
        }
        let names: Vec<&str> = result.metric_names().collect();
        let (mut lines, mut new, mut failed_rows) = (Lines::default(), result.results.iter(), 0);
        let mut number = 0;
        let take = |rows: &mut Vec<_>, row: &mut _, _| {
            rows.push(std::mem::take(row));
            Ok(())
        };
        read_rows(&self.run, Reads::all(), Vec::new, take, |rows| {
            rows.into_iter().try_for_each(|mut row| {
                let scored = new.next().filter(|new| new.id == row.id).ok_or_else(changed)?;
                for score in row.scores.values_mut() {
                    score.written_corpus = score.corpus.as_ref().and_then(Counted::record);
                }
                for (name, outcome) in names.iter().zip(&scored.outcomes) {
                    row.scores.insert((*name).to_owned(), written_score(outcome));
                }
                let has_failed = row.scores.values().any(|score| score.outcome.is_failure());
                failed_rows += u64::from(has_failed);
                lines.push(number, |line| record_line(&row, line));
                number += 1;
                Ok::<_, AppendError>(self.files.write(&mut lines)?)
            })
        })?;
        if new.next().is_some() {
            return Err(changed());
        }
        Ok(self.files.finish(&appended(self.manifest, result, failed_rows, &self.commit))?)
    }
}

/// Returns the manifest of the run with the metrics of the result, and the process that added them.
fn appended(
    mut manifest: Manifest,
    result: &EvaluationResult<Example, Prediction>,
    failed_rows: u64,
    commit: &Commit,
) -> Manifest {
    let new = (*result.manifest).clone();
    manifest.run.metrics.extend(new.run.metrics);
    manifest.run.judged_by.extend(new.run.judged_by);
    manifest.run.judged_by_others.extend(new.run.judged_by_others);
    manifest.run.failed_rows = failed_rows;
    let before = manifest.process.and_then(|process| process.program);
    // Metrics of two programs have no program in common.
    let program = program_hash().filter(|program| before.as_ref() == Some(program));
    let git = commit.finish();
    let process = new.process.map(|process| ProcessManifest { git, program, ..process });
    Manifest { process, file: None, ..manifest }
}

fn manifest_of_run(run: &Path) -> Result<Manifest, AppendError> {
    let file = run.to_path_buf();
    match manifest_of(run, None).map_err(ResultsError::from)? {
        None => Err(AppendError::NotResults { file }),
        Some(Err(reason)) => Err(AppendError::NoManifest { file, reason }),
        Some(Ok(manifest)) => Ok(*manifest),
    }
}
