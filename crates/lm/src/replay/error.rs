//! Errors of files of recorded calls.

use std::io;
use std::path::PathBuf;

/// A file of recorded calls cannot be read or written.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file does not exist.
    #[error("no recorded calls: {} does not exist; record them: DSRS_UPDATE=new cargo test", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read the recorded calls {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The first line is not the header of recorded calls.
    #[error(
        "{}: expected recorded calls, whose first line is {{\"replay\":1}}; name another file, or remove this one",
        path.display()
    )]
    NotReplay {
        /// The file.
        path: PathBuf,
    },
    /// The file has another format version.
    #[error(
        "{}: expected recorded calls of version {expected}, found version {found}; use the version of dsrs-metrics that recorded them, or remove the file and record them again: DSRS_UPDATE=new cargo test",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u64,
        /// The version that is supported.
        expected: u64,
    },
    /// A line is not a recorded call.
    #[error(
        "{}:{line}: expected a recorded call, found {reason}; restore the line, or record all calls again: DSRS_UPDATE=always cargo test",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with the line.
        reason: String,
    },
    /// The file cannot be written. The earlier file is unchanged.
    #[error("cannot write the recorded calls {}: {source}{}", path.display(), advice(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ResourceBusy => "",
        _ => "; check the folder and its permissions",
    }
}

dsrs_metrics_values::debug_as_display!(ReplayError);
