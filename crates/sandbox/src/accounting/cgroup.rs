//! A sandbox's cgroup, which is created before the command starts and removed after the command is killed. Also finds
//! the parent cgroup for these cgroups.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::{Limits, processes};

/// The processes of a sandbox that are not part of the command: `bwrap` outside and inside, and the shell that starts
/// the command.
const OWN_PROCESSES: u64 = 4;

/// The maximum values that the kernel accepts.
const MAX_MEMORY: u64 = 1 << 62;
const MAX_PROCESSES: u64 = 1 << 22;

/// How long the kernel can take to remove the last process from a cgroup.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(2);

/// A sandbox's cgroup, which is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Cgroup {
    dir: PathBuf,
}

impl Cgroup {
    /// Creates the cgroup below `parent`, with its limits.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses the cgroup or lacks a controller's files.
    pub(super) fn create(parent: &Path, limits: &Limits) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "{}{}-{number}",
            processes::TEMPORARY_PREFIX,
            std::process::id()
        );
        let dir = parent.join(&name);
        fs::create_dir(&dir)?;
        // If an error occurs, `cgroup` is dropped, which removes the directory.
        let cgroup = Self { dir };
        let memory = limits.memory_bytes().min(MAX_MEMORY).to_string();
        let pids = limits
            .processes
            .saturating_add(OWN_PROCESSES)
            .min(MAX_PROCESSES)
            .to_string();
        fs::write(cgroup.dir.join("memory.max"), memory)?;
        write_if_present(&cgroup.dir.join("memory.swap.max"), "0")?;
        write_if_present(&cgroup.dir.join("memory.oom.group"), "1")?;
        fs::write(cgroup.dir.join("pids.max"), pids)?;
        Ok(cgroup)
    }

    pub(super) fn join(&self, pid: u32) -> io::Result<()> {
        fs::write(self.dir.join("cgroup.procs"), pid.to_string())
    }

    /// Returns `true` if the kernel killed a process at the memory limit.
    pub(super) fn is_exceeded(&self) -> bool {
        let events = fs::read_to_string(self.dir.join("memory.events")).unwrap_or_default();
        let kills = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        kills.is_some_and(|count| count.trim() != "0")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let deadline = Instant::now() + REMOVAL_TIMEOUT;
        while let Err(error) = fs::remove_dir(&self.dir) {
            let is_busy = error.kind() == io::ErrorKind::ResourceBusy;
            if !is_busy || Instant::now() >= deadline {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Writes to a file that not every kernel provides. Files cannot be created in a cgroup.
fn write_if_present(path: &Path, value: &str) -> io::Result<()> {
    match fs::write(path, value) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound
            ) =>
        {
            Ok(())
        }
        written => written,
    }
}

/// Removes the cgroups that killed processes left behind. A cgroup that contains a process stays.
pub(super) fn remove_leftovers(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| processes::owner(entry).is_some_and(processes::is_dead)) {
        // If this fails, the cgroup is in use, or another process has already removed it.
        let _ = fs::remove_dir(entry.path());
    }
}

/// Returns the parent cgroup for all sandboxes. It has the same limits as this process, because no cgroup between them
/// sets a memory limit.
pub(super) fn parent() -> Option<PathBuf> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (groups, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    let is_root = rustix::process::geteuid().is_root();
    let (own, mount) = own_dir(&groups, &mounts)?;
    delegated(&own, &mount, is_root)
}

/// Returns the directory of this process's cgroup and the mount point of its hierarchy. `groups` is the content of
/// `/proc/self/cgroup`, and `mounts` is that of `/proc/self/mountinfo`.
fn own_dir(groups: &str, mounts: &str) -> Option<(PathBuf, PathBuf)> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, _) = line.split_once(" - cgroup2 ")?;
        let mut before = before.split(' ').skip(3);
        let (root, mount) = (before.next()?, Path::new(before.next()?));
        let inner = Path::new(own).strip_prefix(root).ok()?;
        Some((mount.join(inner), mount.to_owned()))
    })
}

/// Returns a version 2 cgroup's nearest ancestor where this process can create cgroups.
///
/// The cgroup itself cannot be used: it contains a process, and the kernel enables no memory controller for the
/// children of such a cgroup. A sandbox next to it must not escape its limits.
fn delegated(own: &Path, mount: &Path, is_root: bool) -> Option<PathBuf> {
    let mut below = own;
    while below != mount && has_no_memory_limit(below) {
        let dir = below.parent()?;
        let may_use = is_writable(dir) && (!is_root || is_marked_as_delegated(dir));
        if may_use && enable_controllers(dir) {
            return Some(dir.to_owned());
        }
        below = dir;
    }
    None
}

fn has_no_memory_limit(dir: &Path) -> bool {
    let is_unlimited = |file: &str| match fs::read_to_string(dir.join(file)) {
        Ok(limit) => limit.trim() == "max",
        // The controller is not enabled in this cgroup.
        Err(_) => true,
    };
    is_unlimited("memory.max") && is_unlimited("memory.high")
}

/// Returns `true` if this process can create a cgroup in `dir` and move a process from its own into it.
fn is_writable(dir: &Path) -> bool {
    let is_writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    is_writable(dir) && is_writable(&dir.join("cgroup.procs"))
}

/// Returns `true` if systemd has delegated the cgroup. Root can write to every cgroup, but systemd's cgroups have a
/// single owner.
fn is_marked_as_delegated(dir: &Path) -> bool {
    ["user.delegate", "trusted.delegate"].iter().any(|name| {
        let mut value = [0_u8; 8];
        let length = rustix::fs::getxattr(dir, *name, &mut value[..]);
        length.is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

/// Makes the `memory` and `pids` controllers available to a cgroup's children. Returns `true` if they are available.
fn enable_controllers(dir: &Path) -> bool {
    let control = dir.join("cgroup.subtree_control");
    let are_enabled = || {
        let enabled = fs::read_to_string(&control).unwrap_or_default();
        ["memory", "pids"]
            .iter()
            .all(|name| enabled.split_whitespace().any(|it| it == *name))
    };
    // The kernel refuses this if the cgroup has processes or lacks these controllers.
    are_enabled() || fs::write(&control, "+memory +pids").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dir: &Path, file: &str) -> String {
        fs::read_to_string(dir.join(file)).unwrap()
    }

    fn limits() -> Limits {
        Limits {
            memory_mb: 100,
            processes: 10,
            ..Limits::default()
        }
    }

    #[test]
    fn limits_are_written() {
        let root = tempfile::tempdir().unwrap();
        let cgroup = Cgroup::create(root.path(), &limits()).unwrap();
        let dir = &cgroup.dir;
        assert_eq!(read(dir, "memory.max"), "104857600");
        assert_eq!(
            (read(dir, "memory.swap.max"), read(dir, "memory.oom.group")),
            ("0".to_owned(), "1".to_owned())
        );
        assert_eq!(read(dir, "pids.max"), "14");
        cgroup.join(4711).unwrap();
        assert_eq!(read(dir, "cgroup.procs"), "4711");
        assert!(!cgroup.is_exceeded(), "no event was reported");
        for (events, exceeded) in [
            ("low 0\nmax 7\noom 1\noom_kill 0\noom_group_kill 0\n", false),
            ("low 0\nmax 7\noom 1\noom_kill 12\noom_group_kill 1\n", true),
        ] {
            fs::write(dir.join("memory.events"), events).unwrap();
            assert_eq!(cgroup.is_exceeded(), exceeded, "{events}");
        }
    }

    #[test]
    fn only_empty_cgroups_of_dead_processes_are_leftovers() {
        let root = tempfile::tempdir().unwrap();
        let alive = format!("dsrs-sandbox-{}-0", std::process::id());
        // Process ids end at 2^22.
        for name in [
            "dsrs-sandbox-4200000-1",
            "dsrs-sandbox-4200001-0",
            &alive,
            "other-4200000",
        ] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("dsrs-sandbox-4200001-0/busy"), "").unwrap();
        remove_leftovers(root.path());
        let left = fs::read_dir(root.path()).unwrap().flatten();
        let mut left: Vec<_> = left
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = [&*alive, "dsrs-sandbox-4200001-0", "other-4200000"];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    fn dir(groups: &str, mounts: &str) -> Option<String> {
        own_dir(groups, mounts).map(|(own, _)| own.display().to_string())
    }

    #[test]
    fn the_own_cgroup_is_found() {
        let mounts = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let groups = "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/user.slice/x.scope\n";
        assert_eq!(
            dir(groups, mounts).as_deref(),
            Some("/sys/fs/cgroup/unified/user.slice/x.scope")
        );
    }

    #[test]
    fn a_cgroup_outside_of_the_mounted_part_is_not_used() {
        let mounts = "1 2 0:3 /docker/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(
            dir("0::/docker/a/x", mounts).as_deref(),
            Some("/sys/fs/cgroup/x")
        );
        assert_eq!(dir("0::/docker/b", mounts), None);
        assert_eq!(dir("", mounts), None);
    }

    /// Creates a directory that looks like a cgroup.
    fn cgroup(dir: &Path, controllers: &str, memory_max: &str) {
        fs::create_dir_all(dir).unwrap();
        for (file, text) in [
            ("cgroup.procs", ""),
            ("cgroup.subtree_control", controllers),
            ("memory.max", memory_max),
        ] {
            fs::write(dir.join(file), text).unwrap();
        }
    }

    #[test]
    fn the_nearest_delegated_ancestor_without_a_limit_between_is_used() {
        let root = tempfile::tempdir().unwrap();
        let (slice, scope) = (
            root.path().join("app.slice"),
            root.path().join("app.slice/x.scope"),
        );
        cgroup(root.path(), "memory pids cpu\n", "max\n");
        cgroup(&slice, "cpu memory pids\n", "max\n");
        cgroup(&scope, "", "max\n");
        assert_eq!(delegated(&scope, root.path(), false), Some(slice.clone()));
        assert_eq!(
            delegated(&scope, root.path(), true),
            None,
            "root needs the mark of delegation"
        );
        assert_eq!(
            delegated(root.path(), root.path(), false),
            None,
            "no ancestor"
        );
        fs::write(scope.join("memory.max"), "1073741824\n").unwrap();
        assert_eq!(
            delegated(&scope, root.path(), false),
            None,
            "a sandbox would escape the limit"
        );
    }

    #[test]
    fn missing_controllers_are_enabled_where_possible() {
        let root = tempfile::tempdir().unwrap();
        let (service, own) = (
            root.path().join("a.service"),
            root.path().join("a.service/main"),
        );
        cgroup(root.path(), "memory pids", "max");
        cgroup(&service, "cpu", "max");
        cgroup(&own, "", "max");
        assert_eq!(delegated(&own, root.path(), false), Some(service.clone()));
        let control = fs::read_to_string(service.join("cgroup.subtree_control")).unwrap();
        assert_eq!(control, "+memory +pids");
    }
}
