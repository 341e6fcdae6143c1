//! The manifest of a run that is in progress.

use std::time::{Duration, SystemTime};

use indexmap::IndexMap;

use super::content::{FORMAT, Library, Manifest, ProcessManifest, RunCosts, RunManifest};
use super::git::Commit;
use super::judged_by::JudgedBy;
use super::program;
use crate::data::DataFile;
use crate::lm::Ledger;

/// The manifest of a run in progress: the values that are available before its first row.
pub(crate) struct StartedManifest {
    pub(crate) run: RunManifest,
    started: SystemTime,
    /// Only if the run writes files.
    commit: Option<Commit>,
    ledger: Option<Ledger>,
}

/// The values of a manifest that are available at the end of a run.
pub(crate) struct RunEnd<'a> {
    pub(crate) rows: u64,
    pub(crate) positional_ids: bool,
    pub(crate) failed_rows: u64,
    /// The name of the ending.
    pub(crate) ending: &'a str,
    pub(crate) data: Vec<DataFile>,
    pub(crate) judged_by: IndexMap<String, Vec<JudgedBy>>,
    pub(crate) judged_by_others: IndexMap<String, u64>,
    pub(crate) costs: RunCosts,
    pub(crate) elapsed: Duration,
}

impl StartedManifest {
    /// `run` has everything but the results. `has_files` is whether the run writes files.
    pub(crate) fn new(run: RunManifest, has_files: bool, ledger: Option<Ledger>) -> Self {
        if has_files {
            program::start();
        }
        Self {
            run,
            started: SystemTime::now(),
            commit: has_files.then(Commit::start),
            ledger,
        }
    }

    pub(crate) fn finish(&self, end: RunEnd<'_>) -> Manifest {
        let RunEnd { costs, elapsed, .. } = end;
        let calls = self.ledger.as_ref().map(Ledger::total);
        let process = ProcessManifest {
            started: humantime::format_rfc3339_seconds(self.started).to_string(),
            duration_s: elapsed.as_secs_f64(),
            git: self.commit.as_ref().and_then(Commit::finish),
            program: self.commit.as_ref().and_then(|_| program::hash()),
            totals: RunCosts {
                language_models: calls.filter(|it| it.calls + it.refused > 0),
                ..costs
            },
        };
        let run = RunManifest {
            rows: end.rows,
            positional_ids: end.positional_ids,
            failed_rows: end.failed_rows,
            ending: end.ending.to_owned(),
            data: end.data,
            judged_by: end.judged_by,
            judged_by_others: end.judged_by_others,
            ..self.run.clone()
        };
        Manifest {
            format: FORMAT,
            run,
            process: Some(process),
            file: None,
        }
    }
}

impl Default for RunManifest {
    /// The manifest of no metric and no row.
    fn default() -> Self {
        Self {
            label: None,
            tags: std::collections::BTreeMap::new(),
            metrics: IndexMap::new(),
            judged_by: IndexMap::new(),
            judged_by_others: IndexMap::new(),
            data: Vec::new(),
            rows: 0,
            positional_ids: false,
            failed_rows: 0,
            ending: String::new(),
            repeats: None,
            failure_score: 0.0,
            program_inputs: None,
            group: None,
            settings: std::collections::BTreeMap::new(),
            bootstrap: None,
            seed: 0,
            library: Library::current(),
        }
    }
}
