//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.
//!
//! Converts between result files and other programs' file formats.
//!
//! `import/` reads the files of other programs, and `export/` writes them.

#[macro_use]
extern crate dsrs_metrics_values;

mod export;
mod import;

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use dsrs_metrics_core as contract;
use dsrs_metrics_run::{data, evaluate, results};
use dsrs_metrics_values::{json, messages, trajectory};

use crate::results::ResultsError;

pub use export::{Export, ExportFormat};
pub use import::{Epochs, ForeignFormat, import_file};
#[doc(hidden)]
pub use import::{import_files, recognize, source_files};

#[cfg(not(feature = "inspect"))]
pub(crate) const NO_INSPECT: &str = "this program was built without it; run `cargo install dsrs-metrics --features cli,inspect`, or enable \
     `inspect` on your `dsrs-metrics` dependency";

/// The error returned when a file cannot be imported or exported.
///
/// Each message is one line that says where the problem is, what was found, and what to do.
#[derive(thiserror::Error)]
#[error("{message}")]
pub struct FormatError {
    message: String,
    /// The error from the writer that the caller passed.
    output: Option<io::Error>,
    /// `true` if the error may occur because the file has a different format.
    may_be_other: bool,
}

debug_as_display!(FormatError);

impl FormatError {
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            output: None,
            may_be_other: false,
        }
    }

    /// Marks the error as one that may occur because the file has a different format.
    pub(crate) fn or_other(self) -> Self {
        Self {
            may_be_other: true,
            ..self
        }
    }

    /// Creates an error that names the file.
    pub(crate) fn at(file: &Path, reason: impl Display) -> Self {
        Self::new(format_args!("{}: {reason}", file.display()))
    }

    /// Returns the I/O error if writing the output failed, or `self` otherwise.
    #[doc(hidden)]
    pub fn into_output(self) -> Result<io::Error, Self> {
        match self.output {
            Some(output) => Ok(output),
            None => Err(self),
        }
    }
}

impl From<ResultsError> for FormatError {
    fn from(error: ResultsError) -> Self {
        Self::new(error)
    }
}

impl From<io::Error> for FormatError {
    fn from(error: io::Error) -> Self {
        let message = format!("the exported rows cannot be written: {error}");
        Self {
            output: Some(error),
            ..Self::new(message)
        }
    }
}

/// The file to import, for use in errors.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) file: &'a Path,
}

impl Input<'_> {
    /// Reads at most this number of bytes from the start of the file.
    pub(crate) fn start(self, limit: u64) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        let file = File::open(self.file);
        file.and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map_err(|error| self.whole(error))?;
        Ok(bytes)
    }

    /// Reads the whole file if it has at most this number of bytes.
    pub(crate) fn read(self, limit: u64) -> Result<Vec<u8>, FormatError> {
        let size = fs::metadata(self.file).map_or(0, |found| found.len());
        if size <= limit {
            let bytes = self.start(limit + 1)?;
            if bytes.len() as u64 <= limit {
                return Ok(bytes);
            }
        }
        Err(self.whole(format_args!(
            "larger than {} MiB; split it into several files",
            limit >> 20
        )))
    }

    pub(crate) fn whole(self, reason: impl Display) -> FormatError {
        FormatError::at(self.file, reason)
    }

    pub(crate) fn invalid(self, place: impl Display, reason: impl Display) -> FormatError {
        FormatError::at(self.file, format_args!("{place}: {reason}"))
    }
}
