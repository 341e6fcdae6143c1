//! `--append`: the scores are added to a result file.

use std::path::Path;

use crate::args::ScoreArguments;
use crate::error::CliError;
use crate::files::is_regular;
use crate::results::Append;

/// Opens the run of `--append`, and returns it with the arguments that it determines.
pub(super) fn open(args: &ScoreArguments) -> Result<(Append, ScoreArguments), CliError> {
    let run = file(args)?;
    let names: Vec<String> = args.metrics.iter().map(|name| name.trim().to_owned()).collect();
    let append = Append::create(run, args.out.as_deref().unwrap_or(run), &names, !args.raw_csv)?;
    let failure_score = append.failure_score();
    Ok((append, ScoreArguments { failure_score, keep_rows: true, ..args.clone() }))
}

/// The one result file that scores are added to.
fn file(args: &ScoreArguments) -> Result<&Path, CliError> {
    match &*args.data {
        [file] if is_regular(file) => Ok(file),
        [file] => Err(CliError::Append { found: file.display().to_string() }),
        files => Err(CliError::Append { found: format!("{} files", files.len()) }),
    }
}
