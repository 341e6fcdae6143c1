//! The errors of an export. Each message is one line: where, what was found, what to do.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use crate::results::ResultsError;

/// Why a result file cannot be converted.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The result file cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The result file cannot be read again.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The result file is a stream, which cannot be read several times.
    #[error(
        "--to: expected a result file, found standard input, which cannot be read several times; write it to a file"
    )]
    StandardInput,
    /// A row cannot be written in this format.
    #[error("{at}: {reason}")]
    Row {
        /// The file and the line.
        at: String,
        /// What was found, and what to do.
        reason: String,
    },
    /// The format needs facts that neither the result file nor the caller states.
    #[error("--to {format}: {reason}")]
    Facts {
        /// The name of the format.
        format: &'static str,
        /// What is missing, and what to write.
        reason: String,
    },
    /// The program was built without the feature for these logs.
    #[error(
        "--to inspect: this program was built without it; build it with `cargo install dsrs-metrics --features cli,inspect`, \
         or enable the feature `inspect` of the dependency `dsrs-metrics`"
    )]
    NoInspect,
    /// The format has several files.
    #[error(
        "expected a format that is one file, found one of a folder; write it with `Export::write_folder`"
    )]
    Folder,
    /// The format is one file.
    #[error(
        "expected the format of a folder, found one that is a file; write it with `Export::write`"
    )]
    NoFolder,
    /// The output cannot be written.
    #[error("the exported rows cannot be written: {0}")]
    Output(io::Error),
    /// An output file cannot be written.
    #[error("{}: cannot be written: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: io::Error,
    },
}

dsrs_metrics_values::debug_as_display!(ExportError);

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The result file, for errors.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) file: &'a Path,
}

impl ExportError {
    pub(super) fn row(row: &crate::results::ResultRow, reason: impl Display) -> Self {
        Self::Row {
            at: row.at().to_string(),
            reason: reason.to_string(),
        }
    }
}
