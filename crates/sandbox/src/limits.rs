//! Resource limits of a command.

use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use serde::{Deserialize, Serialize};

/// Resource limits for a command. If a command exceeds a limit, it is killed or its request is refused.
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
    /// The maximum wall-clock time of the command, in seconds, excluding the sandbox's set-up. After this time, all
    /// processes are killed. The JSON form does not contain this limit, because the metric's `timeout_secs` sets it.
    #[serde(skip, default = "Limits::default_time")]
    pub time_secs: u64,
    /// The maximum processor time of each process, in seconds. Defaults to one second more than the time limit, so the
    /// time limit is reached first.
    pub cpu_secs: Option<u64>,
    /// The maximum memory in MiB, both for each process and for all processes together, including files kept in memory.
    /// The kernel enforces the limit for each process. How the limit for all processes is enforced depends on
    /// [`Accounting`](super::Accounting).
    pub memory_mb: u64,
    /// The maximum number of concurrent processes and threads.
    pub processes: u64,
    /// The maximum size of a file, in MiB. If the program and its check run as two stages, this also limits the total
    /// size of the files that the program leaves for the check.
    pub file_mb: u64,
    /// The maximum total size of the files in the work directory, in MiB. The same limit applies separately to `/tmp`
    /// and `/dev/shm`. All these files are kept in memory, so they also count towards `memory_mb`.
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

    /// Returns the limit on memory, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_mb.saturating_mul(1024 * 1024)
    }

    /// Returns the limit on the size of a file, in bytes.
    pub(super) fn file_bytes(&self) -> u64 {
        self.file_mb.saturating_mul(1024 * 1024)
    }

    /// Returns the limit on output, in bytes.
    pub(super) fn output_bytes(&self) -> u64 {
        self.output_kb.saturating_mul(1024)
    }
}

impl ValueType for Limits {
    const HELP: TypeHelp =
        TypeHelp::new("a JSON object of limits").with_example(r#"'{"memory_mb": 512}'"#);
}
