//! `--junit`, `--markdown` and `--summary`: the files that CI systems and dashboards show.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use super::same_file::is_same_regular_file;
use crate::cli::args::ScoreArguments;
use crate::cli::error::CliError;
use crate::evaluate::EvaluationResult;
use crate::results::{Results, markdown, summary_csv};

/// Checks before the first row that the files can be written.
pub(super) fn check(args: &ScoreArguments) -> Result<(), CliError> {
    for file in [&args.junit, &args.markdown, &args.summary].into_iter().flatten() {
        if args.data.iter().any(|input| is_same_regular_file(input, file)) {
            return Err(CliError::OutputIsInput { file: file.clone() });
        }
        let opened = OpenOptions::new().append(true).create(true).open(file);
        opened.map_err(|error| unwritable(file, error))?;
    }
    Ok(())
}

/// Writes the files. An evaluation without rows has no JUnit file.
pub(super) fn write(args: &ScoreArguments, result: &EvaluationResult) -> Result<(), CliError> {
    if let Some(file) = &args.junit {
        let name = args.data.first().map(|data| data.display().to_string());
        let results = Results::of(result)?.with_name(name.unwrap_or_default());
        let xml = results.junit().map_err(|error| unwritable(file, error))?;
        fs::write(file, xml).map_err(|error| unwritable(file, error))?;
    }
    if let Some(file) = &args.markdown {
        fs::write(file, markdown(result)).map_err(|error| unwritable(file, error))?;
    }
    if let Some(file) = &args.summary {
        let table = summary_csv(result).map_err(|error| unwritable(file, error))?;
        fs::write(file, table).map_err(|error| unwritable(file, error))?;
    }
    Ok(())
}

pub(super) fn unwritable(file: &Path, reason: io::Error) -> CliError {
    CliError::Unwritable { file: file.to_path_buf(), reason }
}
