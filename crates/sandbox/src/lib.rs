//! Isolated execution of untrusted programs on Linux.
//!
//! A [`Job`] is a command with its files and limits. A [`SandboxProvider`] runs the job and returns a [`Report`].
//! [`Bubblewrap`] isolates commands with Linux namespaces. [`counts`] parses the summaries that test programs print.
//!
//! The metrics that run commands in a sandbox are in `dsrs_metrics::metrics`.
//!
//! To test a program that must not influence the result, use two jobs. The first job runs the program and copies the
//! files it leaves to [`Job::keep`]. The second job runs the check in a new sandbox that contains these files as
//! [`Job::program`].

#[cfg(not(target_os = "linux"))]
compile_error!("the `sandbox` feature requires Linux, because it uses Linux namespaces");

mod accounting;
mod archive;
mod bind_mounts;
mod bubblewrap;
pub mod counts;
mod host;
mod init;
mod processes;
mod programs;
mod seccomp;
mod supervise;
mod work_dir;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use serde::{Deserialize, Serialize};

pub use accounting::Accounting;
pub use bubblewrap::Bubblewrap;
#[doc(hidden)]
pub use host::reserve_temp_space;
#[doc(hidden)]
pub use work_dir::check_path;

/// A command and everything it can access.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job {
    /// The command line, which `/bin/sh` runs in the work directory.
    pub command: String,
    /// The files to create in the work directory, as `(relative path, content)` pairs.
    pub files: Vec<(String, String)>,
    /// Files in the work directory that the command cannot write, replace or remove.
    ///
    /// The command can still hide a file in a subdirectory by renaming the subdirectory.
    pub read_only: Vec<(String, String)>,
    /// A host directory whose content is copied into the work directory.
    ///
    /// The content is copied before `files` are written.
    pub folder: Option<PathBuf>,
    /// Additional host paths that the command can read.
    ///
    /// Each path is the same inside the sandbox.
    pub readable: Vec<PathBuf>,
    /// Programs that must exist before the command runs, as names or absolute paths.
    ///
    /// [`Bubblewrap`] looks up names in the host's `PATH` and makes each program's installation readable.
    pub requires: Vec<String>,
    /// A host directory whose content the command can read at `/program`.
    pub program: Option<PathBuf>,
    /// An existing host directory that receives the files the command leaves behind.
    ///
    /// When the command terminates, all its processes are killed. The regular files in its work directory are then
    /// copied here, without execute permission. Symbolic links, devices, pipes and sockets are skipped. A file with
    /// several hard links is copied under only one of its names.
    ///
    /// The command can leave behind at most 10,000 files. The total size of these files as a tar archive is limited by
    /// [`Limits::file_mb`].
    pub keep: Option<PathBuf>,
    /// The resource limits for the command.
    pub limits: Limits,
}

/// The result of running a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How the command terminated.
    pub termination: Termination,
    /// The standard output, with invalid UTF-8 replaced.
    pub stdout: String,
    /// The standard error, with invalid UTF-8 replaced.
    pub stderr: String,
    /// How long the command ran, in wall-clock time.
    pub elapsed: Duration,
}

/// How a command terminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The command exited with this code.
    ///
    /// If a signal killed the command, the code is 128 plus the signal number.
    Exited(i32),
    /// The command was killed at the time limit.
    TimedOut,
    /// The command was killed at the output limit.
    OutputLimit,
    /// The command was killed at the memory limit.
    MemoryLimit,
    /// The command left more files than [`Job::keep`] allows, or files whose total size is too large.
    FilesLimit,
}

/// The error returned when a command cannot be run.
///
/// If a command runs and fails, you get a [`Report`] instead of an error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// This system cannot isolate commands.
    #[error("cannot isolate the command on this system, so it was not run: {0}")]
    NoIsolation(String),
    /// A program in [`Job::requires`] does not exist in the sandbox.
    #[error(
        "command `{0}` not found in the sandbox, which contains the host's programs in /usr and /bin, the installation \
         of the command that the host's PATH finds, and the paths listed in `readable`; install it, add its directory to \
         PATH, or add its installation to `readable` and write its absolute path"
    )]
    MissingProgram(String),
    /// A required program belongs to a toolchain that is not installed.
    ///
    /// The program in [`Job::requires`] is a rustup proxy or a similar shim.
    #[error(
        "the toolchain of the command `{program}` is not installed: `{command}` failed with {reason:?}; install that \
         toolchain, or select another one"
    )]
    UnknownToolchain {
        /// The name of the program.
        program: String,
        /// The command that failed to find the program.
        command: String,
        /// The output of that command.
        reason: String,
    },
    /// A file's path leads outside the work directory.
    #[error("invalid path `{0}`: expected a path relative to the work directory, without `..`")]
    InvalidPath(String),
    /// One of the job's limits is too small.
    ///
    /// The job's files don't fit, or the command cannot start.
    #[error(
        "the limit `{limit}` is too small: expected {needed}, found {value}; write a larger limit"
    )]
    LimitTooSmall {
        /// The name of the field in [`Limits`].
        limit: &'static str,
        /// The value of the limit.
        value: u64,
        /// The minimum value, and the reason for it.
        needed: String,
    },
    /// The files could not be written, or the process could not be started.
    #[error("{action}: {reason}")]
    Io {
        /// The operation that failed, as named in the message.
        action: String,
        /// The operating system's error.
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

/// Resource limits for a command.
///
/// If a command exceeds a limit, it is killed or its request is refused.
///
/// ```
/// use dsrs_metrics::sandbox::Limits;
///
/// let limits: Limits = serde_json::from_str(r#"{"memory_mb": 512, "processes": 16}"#).unwrap();
/// assert_eq!((limits.memory_mb, limits.time_secs), (512, 30));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The maximum wall-clock time for the command, in seconds.
    ///
    /// When the limit is reached, all processes are killed. The limit excludes the time needed to set up the sandbox.
    ///
    /// The JSON form does not contain this limit, because the metric's `timeout_secs` sets it.
    #[serde(skip, default = "Limits::default_time")]
    pub time_secs: u64,
    /// The maximum processor time for each process, in seconds.
    ///
    /// The default is one second more than the time limit, so the time limit is reached first.
    pub cpu_secs: Option<u64>,
    /// The maximum amount of memory, in MiB.
    ///
    /// The limit applies to each process, and to all processes together, including files kept in memory.
    ///
    /// The kernel enforces the limit for each process. [`Accounting`] describes how the limit for all processes is
    /// enforced.
    pub memory_mb: u64,
    /// The maximum number of concurrent processes and threads.
    pub processes: u64,
    /// The maximum size of a file, in MiB.
    ///
    /// If the program and its check run as two stages, this limit also applies to the total size of the files that the
    /// program leaves for the check.
    pub file_mb: u64,
    /// The maximum total size of the files in the work directory, in MiB.
    ///
    /// The same limit applies separately to `/tmp` and `/dev/shm`. All these files are kept in memory, so they also
    /// count towards `memory_mb`.
    pub disk_mb: u64,
    /// The maximum total size of standard output and standard error, in KiB.
    pub output_kb: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time_secs: 30,
            cpu_secs: None,
            memory_mb: 1024,
            processes: 64,
            file_mb: 64,
            disk_mb: 256,
            output_kb: 1024,
        }
    }
}

impl Limits {
    fn default_time() -> u64 {
        Self::default().time_secs
    }

    /// Returns the processor time limit in seconds, which is at least 1.
    pub fn cpu_secs(&self) -> u64 {
        self.cpu_secs
            .unwrap_or(self.time_secs.saturating_add(1))
            .max(1)
    }

    /// Returns the memory limit, in bytes.
    fn memory_bytes(&self) -> u64 {
        self.memory_mb.saturating_mul(1024 * 1024)
    }

    /// Returns the file size limit, in bytes.
    fn file_bytes(&self) -> u64 {
        self.file_mb.saturating_mul(1024 * 1024)
    }

    /// Returns the output limit, in bytes.
    fn output_bytes(&self) -> u64 {
        self.output_kb.saturating_mul(1024)
    }
}

impl ValueType for Limits {
    const HELP: TypeHelp =
        TypeHelp::new("a JSON object of limits").with_example(r#"'{"memory_mb": 512}'"#);
}

/// Runs untrusted commands in isolation.
///
/// An implementation must keep the command within the job's limits and expose nothing but the job to the command. It
/// must leave no process running when it returns or when its future is dropped. If your implementation cannot guarantee
/// this, make that clear in its name.
///
/// The following provider returns a fixed result without running the command. You can use it to test a metric's
/// configuration:
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
    /// Returns the provider's name, as shown in reports.
    fn name(&self) -> &str;

    /// Returns the mechanism that measures and limits a command's memory, if any.
    ///
    /// The default implementation returns `None`.
    fn accounting(&self) -> Option<Accounting> {
        None
    }

    /// Runs a job to completion.
    ///
    /// # Errors
    /// Returns a [`SandboxError`] if the command cannot be run.
    async fn run(&self, job: &Job) -> Result<Report, SandboxError>;

    /// Checks that this provider can run a job.
    ///
    /// A run calls this method before its first row, with the job of a row but without the row's files. The default
    /// implementation checks nothing.
    ///
    /// # Errors
    /// Returns a [`SandboxError`] that explains why no row can be scored.
    async fn preflight(&self, _job: &Job) -> Result<(), SandboxError> {
        Ok(())
    }
}
