//! The errors of a conversion. Each message is one line: where, what was found, what to do.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use dsrs_metrics_run::EvaluateError;

/// Why a file cannot be converted.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: io::Error,
    },
    /// The file has another format.
    #[error("{}: expected {expected}, found {found}", file.display())]
    OtherFormat {
        /// The file.
        file: PathBuf,
        /// A noun of the format.
        expected: &'static str,
        /// What the file is, and what to write instead.
        found: String,
    },
    /// A part of the file is invalid.
    #[error("{}: {place}: {reason}", file.display())]
    Invalid {
        /// The file.
        file: PathBuf,
        /// The line, member, sample or span.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The whole file is invalid.
    #[error("{}: {reason}", file.display())]
    Whole {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The program was built without the feature for these logs.
    #[error(
        "--from inspect: this program was built without it; build it with `cargo install dsrs-metrics --features cli,inspect`, \
         or enable the feature `inspect` of the dependency `dsrs-metrics`"
    )]
    NoInspect,
    /// The rows cannot be written to the temporary folder.
    #[error("{}: the converted rows cannot be written: {reason}", file.display())]
    Output {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: Box<EvaluateError>,
    },
}

dsrs_metrics_values::debug_as_display!(ImportError);

/// The file that is converted, for errors.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) file: &'a Path,
}

impl Input<'_> {
    pub(super) fn unreadable(self, reason: io::Error) -> ImportError {
        ImportError::Unreadable {
            file: self.file.to_owned(),
            reason,
        }
    }

    pub(super) fn invalid(self, place: impl Display, reason: impl Display) -> ImportError {
        let (place, reason) = (place.to_string(), reason.to_string());
        ImportError::Invalid {
            file: self.file.to_owned(),
            place,
            reason,
        }
    }

    pub(super) fn whole(self, reason: impl Display) -> ImportError {
        ImportError::Whole {
            file: self.file.to_owned(),
            reason: reason.to_string(),
        }
    }

    pub(super) fn output(self, reason: EvaluateError) -> ImportError {
        ImportError::Output {
            file: self.file.to_owned(),
            reason: Box::new(reason),
        }
    }
}
