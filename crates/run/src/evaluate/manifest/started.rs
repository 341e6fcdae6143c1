//! The manifest of a run that is in progress.

use std::time::{Duration, SystemTime};

use super::content::{FORMAT, Manifest, ProcessManifest, RunCosts, RunManifest};
use super::git::Commit;
use super::program;
use crate::lm::Ledger;

/// The manifest of a run in progress: the values available before its first row.
pub(crate) struct StartedManifest {
    pub(crate) run: RunManifest,
    started: SystemTime,
    /// Set only if the run writes files.
    commit: Option<Commit>,
    ledger: Option<Ledger>,
}

impl StartedManifest {
    /// `run` has everything but the results; `has_files` is `true` if the run writes files.
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

    pub(crate) fn finish(&self, run: RunManifest, costs: &RunCosts, elapsed: Duration) -> Manifest {
        let calls = self.ledger.as_ref().map(Ledger::total);
        let process = ProcessManifest {
            started: humantime::format_rfc3339_seconds(self.started).to_string(),
            duration_s: elapsed.as_secs_f64(),
            git: self.commit.as_ref().and_then(Commit::finish),
            program: self.commit.as_ref().and_then(|_| program::hash()),
            totals: RunCosts {
                language_models: calls.filter(|it| it.calls + it.refused > 0),
                ..costs.clone()
            },
        };
        Manifest {
            format: FORMAT,
            run,
            process: Some(process),
            file: None,
        }
    }
}
