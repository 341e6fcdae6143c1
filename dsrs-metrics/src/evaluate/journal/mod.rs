//! The journal of a run: what was paid for, on disk, so that a run that died continues where it ended.
//!
//! A journal is a directory with one append-only file. `log.rs` writes lines with a checksum and syncs them in groups,
//! `scan.rs` reads and validates them, `record.rs` has their content, `identity.rs` compares the run with the one that
//! started the journal, and `row.rs` is what the evaluation of one row finds and records. `run.rs` has the settings of the
//! builder, and connects the journal with the rows of a run.

mod error;
#[cfg(test)]
mod faults;
mod file;
mod identity;
mod log;
mod record;
mod row;
mod run;
mod scan;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::error::JournalError;
use self::file::LogFile;
use self::identity::RunIdentity;
use self::log::Log;
pub(super) use self::record::StoredScores;
use self::record::{StoredPrediction, StoredProgram};
pub(super) use self::row::JournalRow;
pub(crate) use self::row::hexadecimal;
pub(super) use self::run::{JournalOptions, JournalSettings, JournaledRow, Predicted, RunJournal};
use self::scan::Scan;
use crate::lm;

/// The name of the file in the directory of a journal.
const FILE_NAME: &str = "journal.log";

/// The version of the format of the file.
const FORMAT: u32 = 1;

/// An open journal. It is locked until it is dropped.
pub(crate) struct Journal {
    dir: PathBuf,
    log: Log,
    /// What earlier runs recorded.
    scan: Scan,
}

/// Replaces the file operations of a journal, for tests that let them fail.
pub(crate) type WrapFile = Arc<dyn Fn(File) -> Arc<dyn LogFile> + Send + Sync>;

impl Journal {
    /// Opens the journal in this directory, or creates it. The run must be the one that started it.
    pub(crate) fn open(
        dir: &Path,
        run: &RunIdentity,
        wrap: Option<&WrapFile>,
    ) -> Result<Self, JournalError> {
        let failed = |error: &io::Error| JournalError::open(dir, error);
        lm::create_private_dir(dir).map_err(|error| failed(&error))?;
        let path = dir.join(FILE_NAME);
        let file = file::open(&path).map_err(|error| failed(&error))?;
        file::lock(&file, dir)?;
        // Opened again, since appending moves the position of a file.
        let scan = Scan::read(dir, File::open(&path).map_err(|error| failed(&error))?)?;
        if let Some(started) = &scan.header {
            run.check(started, dir)?;
        }
        // An incomplete line of a process that was killed while it wrote.
        file.set_len(scan.end).map_err(|error| failed(&error))?;
        let log_file: Arc<dyn LogFile> = match wrap {
            Some(wrap) => wrap(file),
            None => Arc::new(file),
        };
        let log = Log::start(dir, log_file, scan.end)?;
        if scan.header.is_none() {
            log.append(&record::Header { format: FORMAT, run }, log::Write::Now);
            // The new file must be found after a power failure, too.
            file::sync_dir(dir).map_err(|error| failed(&error))?;
        }
        Ok(Self { dir: dir.to_owned(), log, scan })
    }

    /// The number of rows with a record, up to the last one.
    pub(crate) fn rows(&self) -> u64 {
        self.scan.rows()
    }

    /// The number of damaged records, whose calls are made again.
    pub(crate) fn damaged(&self) -> u64 {
        self.scan.damaged
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns why the journal can no longer be written, if that is so.
    pub(crate) fn error(&self) -> Option<JournalError> {
        self.log.error()
    }

    /// Returns one evaluation of a row, with what earlier runs recorded of it: everything, or what did not fail.
    pub(crate) fn row(
        self: &Arc<Self>,
        row: u64,
        repeat: u32,
        fingerprint: &str,
        retry_failed: bool,
    ) -> Result<Arc<JournalRow>, JournalError> {
        let records = self.scan.of_row(row)?;
        let row = JournalRow::new(Arc::clone(self), (row, repeat), fingerprint, records)?;
        if retry_failed {
            row.forget_failures();
        }
        Ok(row)
    }

    /// Writes and syncs everything.
    pub(crate) fn finish(&self) -> Result<(), JournalError> {
        self.log.finish()
    }
}

/// Returns what the model calls of an interrupted run cost, in millisatoshis, so that a budget can include it. 0 if the
/// directory has no journal.
///
/// ```
/// # fn main() -> Result<(), dsrs_metrics::JournalError> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-paid-{}", std::process::id()));
/// assert_eq!(dsrs_metrics::journal_cost_msats(&dir)?, 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`JournalError`] if the journal cannot be read.
pub fn journal_cost_msats(dir: impl AsRef<Path>) -> Result<u64, JournalError> {
    let dir = dir.as_ref();
    match File::open(dir.join(FILE_NAME)) {
        Ok(file) => Ok(Scan::read(dir, file)?.cost_msats),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(JournalError::open(dir, &error)),
    }
}
