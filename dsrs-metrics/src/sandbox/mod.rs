//! Programs that are not trusted: they run isolated, or not at all.
//!
//! A [`Job`] is a command with its files, a [`SandboxProvider`] runs it, a [`Report`] says how it ended. [`Bubblewrap`] isolates by
//! Linux namespaces. What the output of test programs says is in [`counts`]; the metrics over rows are elsewhere.

#[cfg(not(target_os = "linux"))]
compile_error!("the feature `sandbox` needs Linux: its isolation is made of Linux namespaces");

mod bubblewrap;
mod calls;
pub mod counts;
mod limits;
mod stage;
mod supervise;
mod tree;
mod unconfined;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

pub use bubblewrap::Bubblewrap;
pub use limits::Limits;
pub(crate) use stage::check_path;
pub use unconfined::Unconfined;

/// A command and all that it may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job {
    /// A command line for `/bin/sh`, run in the work folder.
    pub command: String,
    /// Files that are put into the work folder: a relative path, and the content.
    pub files: Vec<(String, String)>,
    /// A folder of the host whose content is copied into the work folder before the files.
    pub folder: Option<PathBuf>,
    /// Further paths of the host that the command may read, at the same place.
    pub readable: Vec<PathBuf>,
    /// What it may use.
    pub limits: Limits,
}

/// How a command ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote to standard output; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How long it ran.
    pub elapsed: Duration,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With an exit code; 128 and the signal's number if a signal ended it.
    Exited(i32),
    /// It was stopped at the limit on time.
    TimedOut,
    /// It was stopped at the limit on output.
    TooMuchOutput,
    /// It was stopped at the limit on memory.
    TooMuchMemory,
}

/// Why a command was not run. A command that fails is no error, but a [`Report`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// There is no isolation here.
    #[error("nothing was run, because it cannot be isolated here: {0}")]
    NoIsolation(String),
    /// A file's path leads out of the work folder.
    #[error("`{0}` is no file in the work folder: give a relative path without `..`")]
    BadPath(String),
    /// The files could not be written, or the process not started.
    #[error("{what}: {reason}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        reason: String,
    },
}

impl SandboxError {
    fn io(what: impl Into<String>, error: impl fmt::Display) -> Self {
        Self::Io { what: what.into(), reason: error.to_string() }
    }
}

/// Something that runs commands of others.
///
/// A provider keeps the command within the job's limits, lets it see nothing but the job, and leaves nothing running
/// when it returns or when its future is dropped; one that cannot do so says it in its name.
#[async_trait]
pub trait SandboxProvider: fmt::Debug + Send + Sync {
    /// The provider's name, for reports.
    fn name(&self) -> &str;

    /// Runs a job to its end.
    ///
    /// # Errors
    /// [`SandboxError`] if nothing was run.
    async fn run(&self, job: &Job) -> Result<Report, SandboxError>;
}
