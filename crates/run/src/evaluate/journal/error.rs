//! Errors of a journal.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a journal cannot be used.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The directory or its file cannot be opened or read.
    #[error("cannot open the journal `{}`: {reason}", dir.display())]
    Open {
        /// The directory.
        dir: PathBuf,
        /// The error message of the operating system.
        reason: String,
    },
    /// Another run has the journal open.
    #[error(
        "the journal `{}` is used by another run; wait until it ends, or choose another directory",
        dir.display()
    )]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// The file is not a journal, or one of another version.
    #[error("cannot read the journal `{}`: {reason}; choose another directory", dir.display())]
    Format {
        /// The directory.
        dir: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A file that a metric reads cannot be compared with the file that the first run of the journal read.
    #[error("metric `{metric}`: {reason}")]
    Unreadable {
        /// The metric.
        metric: String,
        /// The parameter, the file and the reason why the file cannot be read.
        reason: String,
    },
    /// The run was stopped while it read the journal, which is unchanged.
    #[error(
        "stopped while the journal `{}` was read; start the same run again to continue",
        dir.display()
    )]
    Stopped {
        /// The directory.
        dir: PathBuf,
    },
    /// The run differs from the one that started the journal, so its records do not apply.
    #[error(
        "the journal `{}` belongs to a different run: {}; restore what has changed, or choose another directory",
        dir.display(),
        Changes(changes)
    )]
    Changed {
        /// The directory.
        dir: PathBuf,
        /// What has changed, one sentence each.
        changes: Vec<String>,
    },
    /// A record could not be written or synced. Earlier records are kept.
    #[error(
        "cannot write the journal `{}`: {reason}; the records so far are kept: after that is solved, start the same run again to continue",
        dir.display()
    )]
    Write {
        /// The directory.
        dir: PathBuf,
        /// The error message of the operating system.
        reason: String,
    },
}

dsrs_metrics_values::debug_as_display!(JournalError);

impl JournalError {
    pub(super) fn open(dir: &Path, error: &io::Error) -> Self {
        Self::Open { dir: dir.to_owned(), reason: error.to_string() }
    }

    pub(crate) fn changed(dir: &Path, change: String) -> Self {
        Self::Changed { dir: dir.to_owned(), changes: vec![change] }
    }
}

/// The number of changes that a message lists.
const SHOWN_CHANGES: usize = 5;

struct Changes<'a>(&'a [String]);

impl fmt::Display for Changes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.0[..self.0.len().min(SHOWN_CHANGES)];
        f.write_str(&shown.join(", "))?;
        match self.0.len() - shown.len() {
            0 => Ok(()),
            others => write!(f, ", and {others} more"),
        }
    }
}
