//! How the memory of a sandbox is accounted and limited.
//!
//! `kind.rs` lists the mechanisms. `parent.rs` finds the cgroup below which sandboxes may have their own, `cgroup.rs` creates and
//! removes one, and `tasks.rs` adds up the memory in `/proc` where there is no such cgroup. [`Meter`]
//! checks the memory of one command.

mod cgroup;
mod kind;
mod parent;
mod tasks;

use super::{Limits, SandboxError, process_tree};
use cgroup::Cgroup;
pub use kind::Accounting;
pub(super) use parent::Parent;
use tasks::Tasks;

/// A mechanism that is available on this system.
#[derive(Debug, Clone)]
pub(super) enum Mechanism {
    Cgroup(Parent),
    PerTask,
}

impl Mechanism {
    /// Returns the best mechanism of this system, or the wanted one.
    ///
    /// # Errors
    /// [`SandboxError::NoIsolation`] if it is not available.
    pub(super) fn choose(wanted: Option<Accounting>) -> Result<Self, SandboxError> {
        let is_wanted = |it: &Parent| wanted.is_none_or(|wanted| wanted == it.accounting());
        if wanted != Some(Accounting::PerTask)
            && let Some(parent) = parent::find()
                .into_iter()
                .filter(is_wanted)
                .find_map(usable)
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
    Cgroup::create(&parent, &Limits::default())
        .is_ok()
        .then_some(parent)
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
    /// `is_ready` is whether the sandbox is set up, so that its files are files of the command.
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
