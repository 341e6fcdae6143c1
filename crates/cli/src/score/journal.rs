//! `--journal`: the journal of the run, which depends on the data files.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;

use crate::args::ScoreArguments;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::error::CliError;
use crate::evaluate::journal::{JournalError, journal_cost_msats};
use crate::evaluate::{EvaluateBuilder, EvaluateError, JournalUse};
use crate::files::is_regular;
use crate::messages::hash;

/// The builder of an evaluation of the rows of files.
pub(super) type Builder = EvaluateBuilder<Example, Prediction>;

/// Returns the cost of the calls of an interrupted run, in millisatoshis, which `--budget` includes; 0 without a budget or a
/// journal.
pub(super) fn cost_msats(args: &ScoreArguments) -> Result<u64, CliError> {
    match &args.journal {
        Some(dir) if args.options.lm.budget.is_some() => Ok(journal_cost_msats(dir)?),
        _ => Ok(0),
    }
}

/// Records the run in the journal. A changed file is found before anything is paid for; rows of a pipe are compared one
/// by one.
pub(super) fn record(builder: Builder, args: &ScoreArguments) -> Result<Builder, CliError> {
    let Some(dir) = &args.journal else { return Ok(builder) };
    let mut builder = builder.journal(dir).retry_failed(args.retry_failed);
    let mut names = Vec::new();
    for file in args.data.iter().filter(|file| is_regular(file)) {
        let failed = |reason| CliError::JournalInput { file: file.clone(), reason };
        let hash = File::open(file).and_then(hash::of_reader).map_err(failed)?;
        builder = builder.journal_input(input_name(file, &mut names), hash);
    }
    Ok(builder)
}

/// Returns the name of a data file's content in the journal, without its folder: a file may be named by another path when
/// the run continues. Files of one name are numbered.
fn input_name<'a>(file: &'a Path, names: &mut Vec<&'a OsStr>) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    let same = names.iter().filter(|other| **other == name).count();
    names.push(name);
    match same {
        0 => format!("content of {}", name.display()),
        others => format!("content of {} ({})", name.display(), others + 1),
    }
}

/// Returns whether a signal ended the run before its first row, while its journal was read.
pub(super) fn is_stopped(error: &CliError) -> bool {
    matches!(error, CliError::Evaluate(EvaluateError::Journal(JournalError::Stopped { .. })))
}

/// Returns lines about the journal: the numbers of restored rows and of damaged records.
pub(super) fn lines(journal: JournalUse, args: &ScoreArguments) -> Vec<String> {
    let Some(dir) = args.journal.as_ref().map(|dir| dir.display()) else { return Vec::new() };
    let mut lines = Vec::new();
    match journal.restored_rows {
        0 => {}
        1 => lines.push(format!("journal {dir}: 1 row was restored")),
        rows => lines.push(format!("journal {dir}: {rows} rows were restored")),
    }
    match journal.unsettled_msats {
        msats if msats > 0 && args.options.lm.budget.is_some() => lines.push(format!(
            "journal {dir}: calls in progress at an interruption count as spent, {msats} msat"
        )),
        _ => {}
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
