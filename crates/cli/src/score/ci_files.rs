//! `--junit`, `--markdown` and `--summary`: output for CI systems and dashboards, in files or on standard output.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use super::Run;
use crate::args::ScoreArguments;
use crate::evaluate::{EvaluationResult, Observer, RowResult};
use crate::files::Output;
use crate::from::private_folder;
use crate::output::{CliError, Result, XmlOutput, print, unwritable};
use crate::results::{MAX_MARKDOWN_ROWS, Results, does_not_pass, markdown_with_rows, summary_csv};

/// A file that a CI system reads.
pub(super) struct CiFile {
    output: Output,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// Holds the folder of a result file that only this command reads. The folder is removed at the end.
    JUnit(TempDir),
    /// Holds the observer that collects the rows to show.
    Markdown(Arc<NotPassed>),
    Summary,
}

/// Returns the path of the result file in a JUnit folder.
pub(super) fn row_file(folder: &TempDir) -> PathBuf {
    folder.path().join("rows.jsonl")
}

/// Checks before the first row that the files can be written.
pub(super) fn create(args: &ScoreArguments) -> Result<Vec<CiFile>> {
    let mut files = Vec::new();
    let mut add = |option, path: &Path, content| {
        let output = Output::create(option, path)?;
        files.push(CiFile { output, content });
        Ok::<_, CliError>(())
    };
    if let Some(path) = &args.junit {
        add("--junit", path, Content::JUnit(private_folder("--junit")?))?;
    }
    if let Some(path) = &args.markdown {
        let not_passed = NotPassed {
            files: args.data.clone(),
            rows: Mutex::default(),
        };
        add("--markdown", path, Content::Markdown(Arc::new(not_passed)))?;
    }
    if let Some(path) = &args.summary {
        add("--summary", path, Content::Summary)?;
    }
    Ok(files)
}

impl CiFile {
    pub(super) fn is_standard(&self) -> bool {
        self.output.is_standard()
    }

    /// Prints the content to standard output.
    pub(super) fn print(&self, run: &Run<'_>, result: &EvaluationResult) -> Result<()> {
        if let Content::JUnit(_) = self.content {
            let mut out = XmlOutput::default();
            let written = self.write_to(run, result, &mut out);
            return written.and_then(|()| out.flush()).map_err(unwritable);
        }
        let mut text = Vec::new();
        self.write_to(run, result, &mut text).map_err(unwritable)?;
        print(&String::from_utf8_lossy(&text))
    }

    /// Writes the file. If an evaluation has no rows, no JUnit file is written.
    pub(super) fn write(&self, run: &Run<'_>, result: &EvaluationResult) -> Result<()> {
        if result.rows == 0 && matches!(self.content, Content::JUnit(_)) {
            return Ok(());
        }
        self.output.write(|out| self.write_to(run, result, out))
    }

    fn write_to(
        &self,
        run: &Run<'_>,
        result: &EvaluationResult,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match &self.content {
            Content::JUnit(rows) => write_junit(run, &row_file(rows), result, out),
            Content::Markdown(not_passed) => {
                let rows: Vec<_> = not_passed.rows().values().cloned().collect();
                out.write_all(markdown_with_rows(result, &rows).as_bytes())
            }
            Content::Summary => out.write_all(summary_csv(result)?.as_bytes()),
        }
    }
}

fn write_junit(
    run: &Run<'_>,
    rows: &Path,
    result: &EvaluationResult,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = run.args.data.first().map(|data| data.display().to_string());
    let metrics: Vec<&str> = result.metric_names().collect();
    Results::figures_of(result)
        .with_name(name.unwrap_or_default())
        .write_junit(&metrics, rows, out)
}

/// The position of a file, the line of a row, and the length and text of the row's id. All rows of a JSON array can be
/// on one line, where their ids count up.
type Place = (usize, u64, usize, String);

/// The rows that don't pass, by their location.
pub(super) struct NotPassed {
    files: Vec<PathBuf>,
    rows: Mutex<BTreeMap<Place, RowResult>>,
}

impl NotPassed {
    /// Returns the rows in input order. If there are more rows than are shown, returns one more than that.
    fn rows(&self) -> MutexGuard<'_, BTreeMap<Place, RowResult>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for NotPassed {
    /// Returns `false`, because the report needs only ids and scores.
    fn reads_rows(&self) -> bool {
        false
    }

    fn on_row(&self, row: &RowResult) {
        let origin = row.origin.as_ref();
        let Some(origin) = origin.filter(|_| row.outcomes.iter().any(does_not_pass)) else {
            return;
        };
        let file = self.files.iter().position(|file| **file == *origin.file);
        let id = row.id.clone();
        let place = (file.unwrap_or(self.files.len()), origin.line, id.len(), id);
        let mut rows = self.rows();
        let is_full = rows.len() > MAX_MARKDOWN_ROWS;
        if is_full && rows.last_key_value().is_some_and(|(last, _)| *last < place) {
            return;
        }
        rows.insert(place, row.clone());
        if is_full {
            rows.pop_last();
        }
    }
}
