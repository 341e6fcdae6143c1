//! How the memory of a sandbox is accounted and limited.
//!
//! `parent.rs` finds the cgroup below which sandboxes may have their own, `cgroup.rs` creates and
//! removes one, and `tasks.rs` adds up what `/proc` shows where there is none. [`Meter`] is what a
//! supervised command is checked with.

mod cgroup;
mod parent;
mod tasks;

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

use super::{Limits, SandboxError, process_tree};
use cgroup::Cgroup;
pub(super) use parent::Parent;
use tasks::Tasks;

/// The mechanism by which the memory of a sandboxed command is accounted and limited.
///
/// [`Bubblewrap`](super::Bubblewrap) uses the first that this system has. The names are those of the
/// command line's JSON.
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
    /// A cgroup (version 2) per sandbox. The kernel accounts all memory, including that of its own
    /// objects, and enforces the limit.
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
    fn record(self) {
        USED.fetch_or(1 << self as u8, Ordering::Relaxed);
    }

    /// The mechanisms with which sandboxed commands ran in this process so far.
    ///
    /// More than one only if providers were configured differently.
    #[must_use]
    pub fn used() -> Vec<Self> {
        let used = USED.load(Ordering::Relaxed);
        let all = [Self::CgroupV2, Self::CgroupV1, Self::PerTask];
        all.into_iter().filter(|&it| used & (1 << it as u8) != 0).collect()
    }
}

/// One bit for each mechanism that was used in this process.
static USED: AtomicU8 = AtomicU8::new(0);

impl fmt::Display for Accounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A mechanism that is available on this system.
#[derive(Debug, Clone)]
pub(super) enum Mechanism {
    Cgroup(Parent),
    PerTask,
}

impl Mechanism {
    /// Returns the best mechanism of this system, or the one asked for.
    ///
    /// # Errors
    /// [`SandboxError::NoIsolation`] if it is not available.
    pub(super) fn choose(wanted: Option<Accounting>) -> Result<Self, SandboxError> {
        let is_wanted = |it: &Parent| wanted.is_none_or(|wanted| wanted == it.accounting());
        if wanted != Some(Accounting::PerTask)
            && let Some(parent) = parent::find().into_iter().filter(is_wanted).find_map(usable)
        {
            return Ok(Self::Cgroup(parent));
        }
        match wanted {
            None | Some(Accounting::PerTask) if process_tree::is_readable() => Ok(Self::PerTask),
            None | Some(Accounting::PerTask) => Err(SandboxError::NoIsolation(
                "cannot account memory: no cgroup is delegated, and /proc has no lists of children; \
                 mount /proc, or run under `systemd-run --user --scope`"
                    .to_owned(),
            )),
            Some(cgroup) => Err(SandboxError::NoIsolation(format!(
                "cannot account memory by {cgroup}: no such cgroup with the controllers `memory` and \
                 `pids` is delegated to this process"
            ))),
        }
    }

    pub(super) fn accounting(&self) -> Accounting {
        match self {
            Self::Cgroup(parent) => parent.accounting(),
            Self::PerTask => Accounting::PerTask,
        }
    }

    /// A meter for one command.
    pub(super) fn meter(&self, limits: &Limits) -> Result<Meter, SandboxError> {
        self.accounting().record();
        match self {
            Self::PerTask => Ok(Meter::PerTask(Tasks::default())),
            Self::Cgroup(parent) => Cgroup::create(parent, limits)
                .map(Meter::Cgroup)
                .map_err(|error| SandboxError::io("creating the cgroup of the sandbox", error)),
        }
    }
}

/// Returns the parent if a cgroup can be created below it. Removes what killed runs left there.
fn usable(parent: Parent) -> Option<Parent> {
    cgroup::remove_leftovers(&parent);
    Cgroup::create(&parent, &Limits::default()).is_ok().then_some(parent)
}

/// Checks the memory of one command.
#[derive(Debug)]
pub(super) enum Meter {
    Cgroup(Cgroup),
    PerTask(Tasks),
    /// Resident memory of the processes, without any claim to be complete.
    Resident,
}

impl Meter {
    /// Returns whether the command must wait until [`Meter::join`] was called.
    pub(super) fn must_join(&self) -> bool {
        matches!(self, Self::Cgroup(_))
    }

    /// Adds a process, before it starts others.
    pub(super) fn join(&self, pid: u32) -> std::io::Result<()> {
        match self {
            Self::Cgroup(cgroup) => cgroup.join(pid),
            Self::PerTask(_) | Self::Resident => Ok(()),
        }
    }

    /// Returns whether the descendants of `root` have exceeded the limit.
    ///
    /// `is_ready` is whether the sandbox was set up, so that its files are those of the command.
    pub(super) fn is_exceeded(&mut self, root: u32, is_ready: bool, limits: &Limits) -> bool {
        let limit = limits.memory_bytes();
        match self {
            Self::Cgroup(cgroup) => cgroup.is_exceeded(),
            Self::PerTask(tasks) => tasks.is_exceeded(root, is_ready, limit),
            Self::Resident => tasks::resident(root) > limit,
        }
    }

    /// Returns whether the limit was exceeded although the command has terminated.
    pub(super) fn was_exceeded(&self) -> bool {
        matches!(self, Self::Cgroup(cgroup) if cgroup.is_exceeded())
    }
}
