//! The mechanisms that account and limit memory, and the mechanisms that this process used.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// The mechanism by which the memory of a sandboxed command is accounted and limited.
///
/// [`Bubblewrap`](crate::Bubblewrap) uses the first that this system has. The command line's
/// JSON has the same names.
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
    /// A cgroup (version 2) per sandbox. The kernel accounts all memory, including the memory of
    /// its own objects, and enforces the limit.
    ///
    /// Used if the cgroup of this process has a parent that is delegated with the controllers
    /// `memory` and `pids`: a user's process must be able to write to it, and for root it must have
    /// the extended attribute `user.delegate` (systemd: `Delegate=yes`). `systemd-run --user
    /// --scope dsrs-metrics ..` provides one.
    CgroupV2,
    /// A cgroup (version 1) per sandbox and controller, likewise. Used if this process can create
    /// cgroups below its own, which takes root.
    CgroupV1,
    /// The sum over all processes and threads, read from `/proc` every 20 ms: anonymous memory, page
    /// tables, swap, the files of the work directory, `/tmp` and `/dev/shm`, and sockets at the
    /// most that they can buffer.
    ///
    /// Memory that `/proc` does not show is refused: `memfd_create`, `vmsplice` and shared anonymous
    /// mappings fail with `EPERM`, `/dev/zero` cannot be mapped, and the sizes of socket buffers
    /// stay at their defaults. Not counted are objects that the kernel limits per user (pipes,
    /// `epoll` and `inotify` watches, file locks). In the 20 ms between two checks, a command can
    /// exceed the limit by what it can write in that time.
    PerTask,
}

impl Accounting {
    fn name(self) -> &'static str {
        match self {
            Self::CgroupV2 => "cgroup_v2",
            Self::CgroupV1 => "cgroup_v1",
            Self::PerTask => "per_task",
        }
    }

    /// Records that a sandboxed command ran with this mechanism.
    pub(super) fn record(self) {
        USED.fetch_or(1 << self as u8, Ordering::Relaxed);
    }

    /// The mechanisms with which sandboxed commands ran in this process so far.
    ///
    /// More than one only if providers were configured differently.
    pub fn used() -> Vec<Self> {
        let used = USED.load(Ordering::Relaxed);
        let all = [Self::CgroupV2, Self::CgroupV1, Self::PerTask];
        all.into_iter()
            .filter(|&it| used & (1 << it as u8) != 0)
            .collect()
    }
}

/// One bit for each mechanism that was used in this process.
static USED: AtomicU8 = AtomicU8::new(0);

impl fmt::Display for Accounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
