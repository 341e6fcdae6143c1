//! What a command may use.

use serde::{Deserialize, Serialize};

/// What a command may use. Where it takes more it is stopped, or what it asks for is refused.
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
    /// Seconds by the clock; then everything is killed. Not among the limits that are written as JSON: there it is the metric's
    /// `timeout_secs`.
    #[serde(skip, default = "Limits::default_time")]
    pub time_secs: u64,
    /// Seconds of processor time of each process; the time limit if it is not given.
    pub cpu_secs: Option<u64>,
    /// Memory, in MiB: of each process, and of all together. The former is refused by the kernel, the latter is looked at every
    /// 20 ms, so that many processes at once can have more for as long. What the kernel holds in pipes and sockets is not
    /// counted, but a process has at most 512 of them.
    pub memory_mb: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// The largest file, in MiB.
    pub file_mb: u64,
    /// All files in the work folder together, in MiB, and as much again in `/tmp` and in `/dev/shm`. They are held in
    /// memory.
    pub disk_mb: u64,
    /// Standard output and standard error together, in KiB.
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

    /// Processor time in seconds.
    #[must_use]
    pub fn cpu_secs(&self) -> u64 {
        self.cpu_secs.unwrap_or(self.time_secs).max(1)
    }
}
