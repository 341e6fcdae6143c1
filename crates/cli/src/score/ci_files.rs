//! `--junit`, `--markdown` and `--summary`: output for CI systems and dashboards, in files or on standard output.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Run;
use crate::args::ScoreArguments;
use crate::evaluate::report::real_path;
use crate::evaluate::{EvaluationResult, Observer, RowResult};
use crate::files::{Output, is_standard};
use crate::output::{Result, XmlOutput, print, unwritable};
use crate::results::{
    MAX_MARKDOWN_ROWS, Results, does_not_pass, manifest_path, markdown_with_rows, summary_csv,
};

/// A file for a CI system: JUnit if it has a row file, Markdown if it has rows that do not pass, or else the summary.
pub(super) struct CiFile {
    output: Output,
    /// The result file that the run must write for JUnit.
    pub(super) row_file: Option<RowFile>,
    /// The observer that collects the rows that Markdown shows.
    pub(super) not_passed: Option<Arc<NotPassed>>,
}

/// Checks before the first row that the files can be written.
pub(super) fn create(args: &ScoreArguments) -> Result<Vec<CiFile>> {
    let row_file = RowFile::beside(args.junit.as_deref());
    let not_passed = Arc::new(NotPassed {
        files: args.data.clone(),
        rows: Mutex::default(),
    });
    let options = [
        ("--junit", &args.junit, Some(row_file), None),
        ("--markdown", &args.markdown, None, Some(not_passed)),
        ("--summary", &args.summary, None, None),
    ];
    let named = options
        .into_iter()
        .filter_map(|(name, path, row_file, not_passed)| {
            let file = |output| CiFile {
                output,
                row_file,
                not_passed,
            };
            Some(Output::create(name, path.as_ref()?).map(file))
        });
    named.collect()
}

impl CiFile {
    pub(super) fn is_standard(&self) -> bool {
        self.output.is_standard()
    }

    /// Prints the content on standard output.
    pub(super) fn print(&self, run: &Run<'_>, result: &EvaluationResult) -> Result<()> {
        if self.row_file.is_some() {
            let mut out = XmlOutput::default();
            let written = self.content(run, result, &mut out);
            return written.and_then(|()| out.flush()).map_err(unwritable);
        }
        let mut text = Vec::new();
        self.content(run, result, &mut text).map_err(unwritable)?;
        print(&String::from_utf8_lossy(&text))
    }

    /// Writes the file. An evaluation without rows has no JUnit file.
    pub(super) fn write(&self, run: &Run<'_>, result: &EvaluationResult) -> Result<()> {
        if result.rows == 0 && self.row_file.is_some() {
            return Ok(());
        }
        self.output.write(|out| self.content(run, result, out))
    }

    fn content(
        &self,
        run: &Run<'_>,
        result: &EvaluationResult,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match (&self.row_file, &self.not_passed) {
            (Some(rows), _) => write_junit(run, rows, result, out),
            (None, Some(not_passed)) => {
                let rows: Vec<_> = not_passed.rows().values().cloned().collect();
                out.write_all(markdown_with_rows(result, &rows).as_bytes())
            }
            (None, None) => out.write_all(summary_csv(result)?.as_bytes()),
        }
    }

    /// Returns a note for a run without a result, if an earlier run's file remains.
    pub(super) fn unchanged(&self) -> Option<String> {
        self.output.unchanged()
    }
}

fn write_junit(
    run: &Run<'_>,
    rows: &RowFile,
    result: &EvaluationResult,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = run.args.data.first().map(|data| data.display().to_string());
    let mut results = Results::figures_of(result);
    for gate in run.gates(result) {
        let (metric, limit) = (gate.threshold.metric(), &gate.threshold.limit);
        let part = &gate.threshold.name[metric.len()..];
        let verdict = match gate.violation {
            Some(_) => "failed",
            None => "passed",
        };
        let gate = format!("{} {limit}: {verdict}", gate.bound);
        results.add_property(metric, &format!("gate{part}"), gate);
    }
    let metrics: Vec<&str> = result.metric_names().collect();
    results
        .with_name(name.unwrap_or_default())
        .write_junit(&metrics, &rows.0, out)
}

/// A result file that only this command reads. It is removed at the end, along with its manifest.
pub(super) struct RowFile(pub(super) PathBuf);

impl RowFile {
    /// Names a hidden file in the folder of the output.
    fn beside(output: Option<&Path>) -> Self {
        let file = output.filter(|path| !is_standard(path)).map(real_path);
        let is_file = |path: &PathBuf| fs::metadata(path).map_or(true, |found| found.is_file());
        let process = format!("dsrs-metrics-{}.xml", std::process::id());
        let file = file
            .filter(is_file)
            .unwrap_or_else(|| std::env::temp_dir().join(process));
        let mut name = OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".rows.jsonl");
        Self(file.with_file_name(name))
    }
}

impl Drop for RowFile {
    fn drop(&mut self) {
        // It is missing if the run had no result.
        let _ = fs::remove_file(manifest_path(&self.0));
        let _ = fs::remove_file(&self.0);
    }
}

/// The position of a file, the line of a row, and the length and text of its id. All rows of a JSON array may be on one
/// line, where their ids count up.
type Place = (usize, u64, usize, String);

/// The rows by their location.
pub(super) struct NotPassed {
    files: Vec<PathBuf>,
    rows: Mutex<BTreeMap<Place, RowResult>>,
}

impl NotPassed {
    /// Returns the rows in input order: one more than are shown, if there are more.
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
