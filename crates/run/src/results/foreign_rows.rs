//! Writes rows scored by another program as result files, such as the log of another harness.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::contract::{Fields, MetricIdentity, Outcome, ProgramRun};
use crate::evaluate::manifest::{RunCosts, RunManifest, StartedManifest, valid_text};
use crate::evaluate::report::{Format, Lines, ResultFiles, row_line};
use crate::evaluate::{EvaluateError, RowResult, reduced};

/// A row scored by another program.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ForeignRow {
    /// The row's id, unique within the file.
    pub id: String,
    /// `true` if the id is the row's number in the file.
    pub is_positional: bool,
    /// The gold row.
    pub gold: Value,
    /// All other fields.
    pub attributes: Fields,
    /// The evaluations of the row: a single one, or one per repeat.
    pub attempts: Vec<RowAttempt>,
}

/// An evaluation of a row.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct RowAttempt {
    /// The prediction; `None` if the program failed.
    pub pred: Option<Value>,
    /// The latency and tokens of the program.
    pub run: ProgramRun,
    /// The outcome of each metric, by name.
    pub outcomes: IndexMap<String, Outcome>,
}

/// A description of what another program measured, for the manifest.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ForeignRun {
    /// The name of the program that was measured.
    pub label: Option<String>,
    /// Properties of the program and of its evaluation.
    pub tags: BTreeMap<String, String>,
    /// The identities of the metrics.
    pub metrics: IndexMap<String, MetricIdentity>,
    /// The number of times each row was evaluated.
    pub repeats: Option<u32>,
    /// `true` if the run ended early.
    pub is_partial: bool,
}

/// Writes a JSON Lines result file and its manifest. If a row has several evaluations, its score is their mean; failed
/// evaluations count as 0.
///
/// # Errors
/// Returns an [`EvaluateError`] if either file cannot be written.
#[doc(hidden)]
pub fn write_foreign_rows(
    out: &Path,
    rows: Vec<ForeignRow>,
    run: ForeignRun,
) -> Result<(), EvaluateError> {
    let ForeignRun {
        label,
        tags,
        metrics,
        repeats,
        is_partial,
    } = run;
    let targets: [(Format, PathBuf); 1] = [(Format::JsonLines, out.to_owned())];
    let mut files = ResultFiles::create(&targets, false)?.ok_or_else(EvaluateError::no_rows)?;
    let started = StartedManifest::new(RunManifest::default(), false, None);
    let (mut lines, mut failed_rows) = (Lines::default(), 0);
    let count = rows.len() as u64;
    for (number, row) in (0..).zip(rows) {
        let (row, names) = result(row);
        failed_rows += u64::from(row.is_failure());
        lines.push(number, |line| row_line(&row, &names, true, line));
        files.write(&mut lines)?;
    }
    let tag = |(name, value): (String, String)| {
        let value = valid_text(&value).unwrap_or_default();
        Some((valid_text(&name)?, value))
    };
    let run = RunManifest {
        label: label.and_then(|label| valid_text(&label)),
        tags: tags.into_iter().filter_map(tag).collect(),
        metrics,
        repeats,
        rows: count,
        failed_rows,
        ending: if is_partial { "stopped" } else { "complete" }.to_owned(),
        ..RunManifest::default()
    };
    // The duration of the other program is not known.
    files.finish(&started.finish(run, &RunCosts::default(), Duration::ZERO))
}

/// Returns the row in the form that a run of this library has it, and the names of its metrics.
fn result(row: ForeignRow) -> (RowResult<Value, Value>, Vec<String>) {
    let ForeignRow {
        id,
        is_positional,
        gold,
        attributes,
        attempts,
    } = row;
    let names = attempts.iter().flat_map(|attempt| attempt.outcomes.keys());
    let names: Vec<String> = names
        .cloned()
        .collect::<IndexSet<_>>()
        .into_iter()
        .collect();
    let has_repeats = attempts.len() > 1;
    let mut row = RowResult::of_parts(id, Arc::new(gold), attributes);
    row.is_positional = is_positional;
    for mut attempt in attempts {
        let run = (attempt.run.latency.is_some() || attempt.run.usage.is_some())
            .then(|| Box::new(attempt.run));
        // An evaluation that lacks a metric has no score for it.
        let outcome = |name| {
            attempt
                .outcomes
                .swap_remove(name)
                .unwrap_or(Outcome::Abstained)
        };
        let outcomes = names.iter().map(outcome).collect();
        if has_repeats {
            row.push_repeat(attempt.pred, run, outcomes);
        } else {
            (row.pred, row.run, row.outcomes) = (attempt.pred, run, outcomes);
        }
    }
    if has_repeats {
        row.outcomes = reduced(&row.repeats, names.len(), 0.0);
    }
    (row, names)
}
