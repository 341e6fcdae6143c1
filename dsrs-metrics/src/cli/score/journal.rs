//! `--journal`: the journal of the run, which depends on the data files.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{Builder, is_regular};
use crate::cli::args::ScoreArguments;
use crate::cli::error::CliError;
use crate::evaluate::JournalUse;
use crate::evaluate::journal::{hexadecimal, journal_cost_msats};

/// Returns what the calls of an interrupted run cost, in millisatoshis, which `--budget` includes.
pub(super) fn cost_msats(args: &ScoreArguments) -> Result<u64, CliError> {
    match &args.journal {
        Some(dir) if args.lm.budget.is_some() => Ok(journal_cost_msats(dir)?),
        _ => Ok(0),
    }
}

/// Records the run in the journal. A changed file is found before anything is paid for; rows of a pipe are compared one
/// by one.
pub(super) fn record(builder: Builder, args: &ScoreArguments) -> Result<Builder, CliError> {
    let Some(dir) = &args.journal else { return Ok(builder) };
    let mut builder = builder.journal(dir).retry_failed(args.retry_failed);
    for file in args.data.iter().filter(|file| is_regular(file)) {
        let hash =
            hash(file).map_err(|reason| CliError::JournalInput { file: file.clone(), reason })?;
        builder = builder.journal_input(format!("content of {}", file.display()), hash);
    }
    Ok(builder)
}

/// Returns the beginning of the SHA-256 hash of a file.
fn hash(file: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(file)?, &mut HashWriter(&mut hash))?;
    Ok(hexadecimal(&hash.finalize()[..16]))
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what to print about the journal: what was restored, and what was damaged.
pub(super) fn lines(journal: JournalUse, args: &ScoreArguments) -> Vec<String> {
    let Some(dir) = args.journal.as_ref().map(|dir| dir.display()) else { return Vec::new() };
    let mut lines = Vec::new();
    match journal.restored_rows {
        0 => {}
        1 => lines.push(format!("journal {dir}: 1 row was restored")),
        rows => lines.push(format!("journal {dir}: {rows} rows were restored")),
    }
    match journal.damaged_records {
        0 => {}
        1 => lines.push(format!("warning: journal {dir}: 1 damaged record was ignored; its calls were made again")),
        records => lines.push(format!(
            "warning: journal {dir}: {records} damaged records were ignored; their calls were made again"
        )),
    }
    lines
}
