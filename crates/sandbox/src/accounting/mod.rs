//! Measures and limits the memory of a sandbox.
//!
//! `cgroup.rs` creates and removes a sandbox's cgroup. If no cgroup is delegated, `tasks.rs` adds up the memory shown
//! in `/proc`. [`Meter`] checks a command's memory.

mod cgroup;
mod tasks;

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

use super::{Limits, SandboxError, processes};
use cgroup::Cgroup;
use tasks::Tasks;

/// How a command's memory is measured and limited.
///
/// [`Bubblewrap`](crate::Bubblewrap) uses the first mechanism that this system supports.
///
/// In JSON, the mechanisms are named `cgroup_v2` and `per_task`.
///
/// ```
/// use dsrs_metrics::sandbox::Accounting;
///
/// assert_eq!(Accounting::PerTask.to_string(), "per_task");
/// assert_eq!(serde_json::to_string(&Accounting::CgroupV2).unwrap(), r#""cgroup_v2""#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Accounting {
    /// Each sandbox has its own version 2 cgroup.
    ///
    /// The kernel accounts for all memory, including its own objects, and enforces the limit.
    ///
    /// This mechanism needs a delegated cgroup. A parent of this process's cgroup must be delegated with the `memory`
    /// and `pids` controllers. If the process belongs to a regular user, it must be able to write to that parent. If it
    /// runs as root, the parent must have the extended attribute `user.delegate` (systemd: `Delegate=yes`).
    ///
    /// To run the command line in a delegated cgroup, write `systemd-run --user --scope dsrs-metrics ..`.
    CgroupV2,
    /// The sandbox adds up the memory of all processes and threads every 20 ms.
    ///
    /// The sandbox reads memory use from `/proc`. The total consists of anonymous memory, page tables, swap, the files
    /// in the work directory, `/tmp` and `/dev/shm`, and the maximum that sockets can buffer.
    ///
    /// The sandbox refuses memory that `/proc` does not show. `memfd_create`, `vmsplice` and shared anonymous mappings
    /// fail with `EPERM`. `/dev/zero` cannot be mapped, and socket buffers keep their default sizes.
    ///
    /// Objects that the kernel limits per user are not counted, such as pipes, `epoll` and `inotify` watches, and file
    /// locks.
    ///
    /// Between two checks, a command can exceed the limit by as much as it can write in 20 ms.
    PerTask,
}

impl Accounting {
    const ALL: [Self; 2] = [Self::CgroupV2, Self::PerTask];

    /// Records that a sandboxed command ran with this mechanism.
    fn record(self) {
        USED.fetch_or(1 << self as u8, Ordering::Relaxed);
    }

    /// Returns the mechanisms that this process has used for sandboxed commands.
    ///
    /// The list can have several entries only if providers are configured differently.
    pub fn used() -> Vec<Self> {
        let used = USED.load(Ordering::Relaxed);
        let is_used = |it: &Self| used & (1 << *it as u8) != 0;
        Self::ALL.into_iter().filter(is_used).collect()
    }
}

/// One bit for each mechanism used in this process.
static USED: AtomicU8 = AtomicU8::new(0);

impl fmt::Display for Accounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CgroupV2 => "cgroup_v2",
            Self::PerTask => "per_task",
        })
    }
}

/// The parent cgroup for all sandboxes. If there is none, memory is accounted per task.
#[derive(Debug)]
pub(super) struct Parent(Option<PathBuf>);

impl Parent {
    /// Finds a parent cgroup, unless a different mechanism is requested.
    ///
    /// # Errors
    /// Returns [`SandboxError::NoIsolation`] if the requested mechanism is not available.
    pub(super) fn find(wanted: Option<Accounting>) -> Result<Self, SandboxError> {
        if wanted != Some(Accounting::PerTask)
            && let Some(parent) = cgroup::parent()
        {
            cgroup::remove_leftovers(&parent);
            if Cgroup::create(&parent, &Limits::default()).is_ok() {
                return Ok(Self(Some(parent)));
            }
        }
        let reason = if wanted == Some(Accounting::CgroupV2) {
            "cannot account for memory with cgroup_v2: no cgroup with the `memory` and `pids` \
             controllers is delegated to this process"
        } else if processes::is_readable() {
            return Ok(Self(None));
        } else {
            "cannot account for memory: no cgroup is delegated, and /proc does not list child \
             processes; mount /proc, or run under `systemd-run --user --scope`"
        };
        Err(SandboxError::NoIsolation(reason.to_owned()))
    }

    pub(super) fn accounting(&self) -> Accounting {
        match self.0 {
            Some(_) => Accounting::CgroupV2,
            None => Accounting::PerTask,
        }
    }

    /// Returns a meter for one command.
    pub(super) fn meter(&self, limits: &Limits) -> Result<Meter, SandboxError> {
        self.accounting().record();
        let Some(parent) = &self.0 else {
            return Ok(Meter::PerTask(Tasks::default()));
        };
        Cgroup::create(parent, limits)
            .map(Meter::Cgroup)
            .map_err(|error| SandboxError::io("creating the sandbox's cgroup", error))
    }
}

/// Checks a command's memory.
#[derive(Debug)]
pub(super) enum Meter {
    Cgroup(Cgroup),
    PerTask(Tasks),
}

impl Meter {
    /// Returns `true` if the command must wait until [`Meter::join`] is called.
    pub(super) fn must_join(&self) -> bool {
        matches!(self, Self::Cgroup(_))
    }

    /// Adds a process before it starts any other process.
    pub(super) fn join(&self, pid: u32) -> std::io::Result<()> {
        match self {
            Self::Cgroup(cgroup) => cgroup.join(pid),
            Self::PerTask(_) => Ok(()),
        }
    }

    /// Returns `true` if the descendants of `root` have exceeded the limit.
    ///
    /// `is_ready` is `true` once the sandbox is set up, so that its files are the command's files.
    pub(super) fn is_exceeded(&mut self, root: u32, is_ready: bool, limits: &Limits) -> bool {
        let limit = limits.memory_bytes();
        match self {
            Self::Cgroup(cgroup) => cgroup.is_exceeded(),
            Self::PerTask(tasks) => tasks.is_exceeded(root, is_ready, limit),
        }
    }

    /// Returns `true` if the limit was exceeded, even if the command has already terminated.
    pub(super) fn was_exceeded(&self) -> bool {
        matches!(self, Self::Cgroup(cgroup) if cgroup.is_exceeded())
    }
}
