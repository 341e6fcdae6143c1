//! The journal of a run: paid results on disk, so that a run that died continues where it ended.
//!
//! A journal is a directory with one append-only file. `log.rs` writes lines with a checksum and syncs them in groups,
//! `scan.rs` reads and validates them, `record.rs` has their content, `identity.rs` compares the run with the run that
//! started the journal, and `row.rs` returns and adds the records of one row. `evaluate/row/run_journal.rs`
//! connects the journal with the rows of a run.

mod error;
#[cfg(test)]
mod faults;
mod file;
mod identity;
mod log;
mod record;
mod row;
mod scan;
mod usage;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::error::JournalError;
pub(super) use self::identity::RunIdentity;
pub(super) use self::record::{ProgramFailure, StoredPrediction, StoredProgram, StoredScores};
pub(super) use self::row::JournalRow;
pub use self::usage::JournalUse;

use self::file::{FILE_NAME, LogFile};
use self::log::Log;
use self::record::{CallCost, FORMAT, Spending};
use self::scan::Scan;
use crate::lm;
use crate::lm::recording::SpendingRecorder;

/// An open journal. It is locked until it is dropped.
pub(crate) struct Journal {
    dir: PathBuf,
    log: Log,
    /// The records of earlier runs.
    scan: Scan,
    /// The number of the next call under a budget.
    next_call: AtomicU64,
    /// The file that is locked, where it is not the journal's own file.
    _lock: Option<File>,
}

/// Replaces the file operations of a journal, for tests that let them fail.
pub(crate) type WrapFile = Arc<dyn Fn(File) -> Arc<dyn LogFile> + Send + Sync>;

impl Journal {
    /// Opens the journal in this directory, or creates it. The run must have the identity of the run that started it,
    /// unless the journal has no records. The first line of a new journal is on the disk when this returns. Reading ends with an error
    /// when `is_stopped` returns true.
    pub(crate) fn open(
        dir: &Path,
        run: &RunIdentity,
        wrap: Option<&WrapFile>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, JournalError> {
        let failed = |error: &io::Error| JournalError::open(dir, error);
        lm::create_private_dir(dir).map_err(|error| failed(&error))?;
        let path = dir.join(FILE_NAME);
        file::exists(&path, dir)?;
        let file = file::open(&path).map_err(|error| failed(&error))?;
        let lock = file::lock(&file, dir)?;
        // Opened again, since appending moves the position of a file.
        let read = File::open(&path).map_err(|error| failed(&error))?;
        let scan = Scan::read(dir, read, is_stopped)?;
        let header = log::line(&record::Header { format: FORMAT, run });
        let header = header.map_err(|error| failed(&error.into()))?;
        scan.check_end(&header)?;
        let length = match scan.header.as_ref().map(|started| run.check(started, dir)) {
            Some(Err(changed)) if !scan.is_unused() => return Err(changed),
            Some(Ok(())) => scan.end,
            Some(Err(_)) | None => 0,
        };
        // Removes an incomplete line of a process that was killed while it wrote.
        file.set_len(length).map_err(|error| failed(&error))?;
        let file: Arc<dyn LogFile> = match wrap {
            Some(wrap) => wrap(file),
            None => Arc::new(file),
        };
        let next_call = AtomicU64::new(scan.next_call);
        let dir_of_journal = dir.to_owned();
        if length > 0 {
            let log = Log::start(dir, file, length)?;
            return Ok(Self { dir: dir_of_journal, log, scan, next_call, _lock: lock });
        }
        log::write_first(&*file, &header).map_err(|error| failed(&error))?;
        // The new file must be found after a power failure, too.
        file::sync_dir(dir).map_err(|error| failed(&error))?;
        let log = Log::start(dir, file, header.len() as u64)?;
        if scan.spent_msats() > 0 {
            // The cost of the run before, which recorded no row.
            let call = next_call.fetch_add(1, Ordering::Relaxed);
            let spent = CallCost { call, msats: scan.spent_msats(), of_gate: false };
            log.append(&Spending::Settled(spent), log::Write::Now);
        }
        Ok(Self { dir: dir_of_journal, log, scan, next_call, _lock: lock })
    }

    /// Records the reservation of a call by the budget of the models, or of the gate, before the call. Returns its number.
    pub(crate) fn reserve_call(&self, msats: u64, of_gate: bool) -> u64 {
        let call = self.next_call.fetch_add(1, Ordering::Relaxed);
        let cost = CallCost { call, msats, of_gate };
        self.log.append(&Spending::Reserved(cost), log::Write::Now);
        call
    }

    /// Records the cost of a call that was reserved. If the record is lost, the reserved amount counts.
    pub(crate) fn settle_call(&self, call: u64, msats: u64, of_gate: bool) {
        let cost = CallCost { call, msats, of_gate };
        self.log.append(&Spending::Settled(cost), log::Write::Later);
    }

    /// Returns the error after which the journal is no longer written.
    pub(crate) fn error(&self) -> Option<JournalError> {
        self.log.error()
    }

    /// Returns the use of the journal by a run that restored this number of rows.
    pub(crate) fn usage(&self, restored_rows: u64) -> JournalUse {
        JournalUse {
            restored_rows,
            damaged_records: self.scan.damaged,
            unsettled_msats: self.scan.unsettled_msats(),
        }
    }

    /// Returns the recorded cost of all calls of metrics under a gate, in millisatoshis.
    pub(crate) fn gate_msats(&self) -> u64 {
        self.scan.gate_msats()
    }

    /// Writes and syncs everything. A run that was not stopped passes its number of rows, which must not be smaller than
    /// the number of rows in the journal.
    pub(crate) fn finish(&self, all_rows: Option<u64>) -> Result<(), JournalError> {
        self.log.finish()?;
        let journaled = self.scan.rows();
        match all_rows.filter(|rows| *rows < journaled) {
            None => Ok(()),
            Some(rows) => {
                let change = format!("the data has {rows} rows, and the journal {journaled}");
                Err(JournalError::changed(&self.dir, change))
            }
        }
    }
}

/// Returns the file of the journal in this directory.
pub fn journal_file(dir: &Path) -> PathBuf {
    // The directory may not exist yet.
    crate::evaluate::files::real_path(dir).join(FILE_NAME)
}

impl SpendingRecorder for Journal {
    fn reserve(&self, msats: u64) -> Result<u64, String> {
        let call = self.reserve_call(msats, false);
        self.log.error().map_or(Ok(call), |error| Err(error.to_string()))
    }

    /// The record follows with the reply. If it is lost, the reserved amount counts.
    fn settle(&self, call: u64, msats: u64) {
        self.settle_call(call, msats, false);
    }
}

/// Returns the cost of the model calls of an interrupted run, in millisatoshis, so that a budget can include it. 0 if the
/// directory has no journal. A call under a budget that was in progress when the process died, including a preflight check,
/// costs the amount reserved for it.
///
/// ```
/// # fn main() -> Result<(), dsrs_metrics::runs::JournalError> {
/// # let dir = std::env::temp_dir().join(format!("dsrs-doc-paid-{}", std::process::id()));
/// assert_eq!(dsrs_metrics::runs::journal_cost_msats(&dir)?, 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`JournalError`] if the journal cannot be read.
pub fn journal_cost_msats(dir: impl AsRef<Path>) -> Result<u64, JournalError> {
    let (dir, path) = (dir.as_ref(), dir.as_ref().join(FILE_NAME));
    if !file::exists(&path, dir)? {
        return Ok(0);
    }
    let file = File::open(path).map_err(|error| JournalError::open(dir, &error))?;
    Ok(Scan::read(dir, file, &|| false)?.spent_msats())
}
