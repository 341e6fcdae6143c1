//! Isolated execution of untrusted programs, on Linux.
//!
//! A [`Job`] is a command with its files and limits; a [`SandboxProvider`] runs it and returns a
//! [`Report`]. [`Bubblewrap`] isolates with Linux namespaces. [`counts`] parses the summaries that
//! test programs print. The metrics over rows are in `dsrs_metrics::metrics::sandbox`.
//!
//! Two jobs make a test that the tested program cannot influence: the first one runs the program
//! and copies the files that it leaves to [`Job::keep`]; the second one runs the check in a new
//! sandbox, which contains these files as [`Job::program`].

#[cfg(not(target_os = "linux"))]
compile_error!("the feature `sandbox` requires Linux: it isolates with Linux namespaces");

mod accounting;
mod archive;
mod bind_mounts;
mod bubblewrap;
pub mod counts;
mod host;
mod init;
mod limits;
mod process_tree;
mod programs;
mod seccomp;
mod stale_files;
mod supervise;
mod unconfined;
mod work_dir;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

pub use accounting::Accounting;
pub use bubblewrap::Bubblewrap;
#[doc(hidden)]
pub use host::reserve_temp_space;
pub use limits::Limits;
pub use unconfined::Unconfined;
#[doc(hidden)]
pub use work_dir::check_path;

/// A command and everything that it may access.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job {
    /// The command line for `/bin/sh`, run in the work directory.
    pub command: String,
    /// Files of the work directory: a relative path and the content.
    pub files: Vec<(String, String)>,
    /// Files of the work directory that the command cannot write, replace or remove. A file in a
    /// subdirectory can be hidden, since the subdirectory can be renamed. [`Unconfined`] treats them
    /// like `files`.
    pub read_only: Vec<(String, String)>,
    /// A host directory whose content is copied into the work directory before `files` are written.
    pub folder: Option<PathBuf>,
    /// Further host paths that the command may read, at the same path inside.
    pub readable: Vec<PathBuf>,
    /// Programs that must exist before the command is run: names, or absolute paths. [`Bubblewrap`]
    /// looks for names as the host's `PATH` does and makes the installation readable;
    /// [`Unconfined`] does not look for them.
    pub requires: Vec<String>,
    /// A host directory whose content the command can read at `/program`.
    pub program: Option<PathBuf>,
    /// An existing host directory. When the command has terminated, all its processes are killed
    /// and the regular files of its work directory are written here, without permission to execute
    /// them. Symbolic links, devices, pipes and sockets are left out, as are further names of a
    /// file with several hard links. All files together, as a tar archive, are limited by
    /// [`Limits::file_mb`], and their number is limited to 10,000.
    pub keep: Option<PathBuf>,
    /// Resource limits.
    pub limits: Limits,
}

/// The result of a command that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How the command terminated.
    pub termination: Termination,
    /// Standard output; bytes that are not valid UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// Wall-clock time.
    pub elapsed: Duration,
}

/// How a command terminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// It exited with this code, or with 128 plus the signal's number if a signal killed it.
    Exited(i32),
    /// It was killed at the time limit.
    TimedOut,
    /// It was killed at the output limit.
    OutputLimit,
    /// It was killed at the memory limit.
    MemoryLimit,
    /// It left more files, or larger ones, than [`Job::keep`] allows.
    FilesLimit,
}

/// Why a command was not run. A command that fails is not an error but a [`Report`].
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// This system provides no isolation.
    #[error("cannot isolate the command on this system, so it was not run: {0}")]
    NoIsolation(String),
    /// A program of [`Job::requires`] does not exist in the sandbox.
    #[error(
        "command `{0}` not found in the sandbox, which contains the host's programs in /usr and /bin, the installation \
         of the command that the host's PATH finds, and the paths listed in `readable`; install it, add its directory to \
         PATH, or add its installation to `readable` and write its absolute path"
    )]
    MissingProgram(String),
    /// A program of [`Job::requires`] is a proxy of rustup, or a shim of a similar program, for a
    /// toolchain that is not installed.
    #[error(
        "the toolchain of the command `{program}` is not installed: `{command}` failed with {reason:?}; install that \
         toolchain, or select another one"
    )]
    UnknownToolchain {
        /// The name of the program.
        program: String,
        /// The command that did not find it.
        command: String,
        /// The output of that command.
        reason: String,
    },
    /// The path of a file leads out of the work directory.
    #[error("invalid path `{0}`: expected a path relative to the work directory, without `..`")]
    InvalidPath(String),
    /// A limit of the job is too small for its files, or to start the command.
    #[error(
        "the limit `{limit}` is too small: expected {needed}, found {value}; write a larger limit"
    )]
    LimitTooSmall {
        /// The field of [`Limits`].
        limit: &'static str,
        /// Its value.
        value: u64,
        /// The smallest value, and its reason.
        needed: String,
    },
    /// The files could not be written, or the process could not be started.
    #[error("{action}: {reason}")]
    Io {
        /// The operation that failed.
        action: String,
        /// The error of the operating system.
        reason: String,
    },
}

dsrs_metrics_values::debug_as_display!(SandboxError);

impl SandboxError {
    fn io(action: impl Into<String>, error: impl fmt::Display) -> Self {
        Self::Io {
            action: action.into(),
            reason: error.to_string(),
        }
    }
}

/// Runs untrusted commands.
///
/// An implementation keeps the command within the job's limits, exposes nothing but the job to it,
/// and leaves no process running when it returns or when its future is dropped. One that cannot
/// guarantee this must make that clear in its name.
///
/// A provider that runs nothing, for tests of a metric's configuration:
///
/// ```
/// use std::time::Duration;
/// use dsrs_metrics::async_trait;
/// use dsrs_metrics::metrics::{Isolation, TestPass};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::sandbox::{Job, Report, SandboxError, SandboxProvider, Termination};
///
/// #[derive(Debug)]
/// struct Recorded;
///
/// #[async_trait]
/// impl SandboxProvider for Recorded {
///     fn name(&self) -> &str {
///         "recorded"
///     }
///
///     async fn run(&self, job: &Job) -> Result<Report, SandboxError> {
///         assert_eq!(job.command, "pytest");
///         let (stdout, stderr) = ("3 passed in 0.01s".to_owned(), String::new());
///         Ok(Report { termination: Termination::Exited(0), stdout, stderr, elapsed: Duration::ZERO })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let isolation = Isolation::with_provider(Recorded);
/// let metric = TestPass::builder().command("pytest").isolation(isolation).build();
/// assert_eq!(metric.evaluate(&example! {}, &prediction! {}).await?.value, 1.0);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SandboxProvider: fmt::Debug + Send + Sync {
    /// The provider's name, for reports.
    fn name(&self) -> &str;

    /// How the memory of a command is accounted and limited, if this provider limits it.
    ///
    /// The default is `None`.
    fn accounting(&self) -> Option<Accounting> {
        None
    }

    /// Runs a job to completion.
    ///
    /// # Errors
    /// [`SandboxError`] if the command was not run.
    async fn run(&self, job: &Job) -> Result<Report, SandboxError>;

    /// Checks, before the first row, that jobs of this kind can be run. The job is the job of a row
    /// without its files. The default implementation checks nothing.
    ///
    /// # Errors
    /// [`SandboxError`] with the reason why no row can be scored.
    async fn preflight(&self, _job: &Job) -> Result<(), SandboxError> {
        Ok(())
    }
}
