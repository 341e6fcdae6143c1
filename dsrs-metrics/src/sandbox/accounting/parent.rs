//! The cgroup (version 2) below which every sandbox gets its own.
//!
//! A sandbox stays below all memory limits of the current process: its cgroup is created beside that of the process only if
//! that has no limit.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the cgroup of this process's hierarchy in which others may be created.
pub(super) fn find() -> Option<PathBuf> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (own, mount) = own_dir(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))?;
    delegated(&own, &mount, rustix::process::geteuid().is_root())
}

/// The directory of this process's cgroup, and the mount point of its hierarchy. `groups` is `/proc/self/cgroup`, `mounts`
/// is `/proc/self/mountinfo`.
fn own_dir(groups: &str, mounts: &str) -> Option<(PathBuf, PathBuf)> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, mount) = (before.next()?, Path::new(before.next()?));
        let is_cgroup = after.split(' ').next() == Some("cgroup2");
        let inner = Path::new(own).strip_prefix(root).ok().filter(|_| is_cgroup)?;
        Some((mount.join(inner), mount.to_owned()))
    })
}

/// The nearest ancestor of a cgroup in which this process may create others.
///
/// The cgroup itself is out of the question: it contains a process, and the kernel gives memory to
/// the children of such a cgroup to none. A sandbox beside it must not escape a limit on it.
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

/// Whether this process may create a cgroup in `dir` and move a process from its own into it.
fn is_writable(dir: &Path) -> bool {
    let is_writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    is_writable(dir) && is_writable(&dir.join("cgroup.procs"))
}

/// Whether systemd has handed the cgroup over. Root can write to every cgroup, but those of systemd
/// have a single owner.
fn is_marked_as_delegated(dir: &Path) -> bool {
    ["user.delegate", "trusted.delegate"].iter().any(|name| {
        let mut value = [0_u8; 8];
        let length = rustix::fs::getxattr(dir, *name, &mut value[..]);
        length.is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

/// Makes `memory` and `pids` available to the children of a cgroup; returns whether they are.
fn enable_controllers(dir: &Path) -> bool {
    let control = dir.join("cgroup.subtree_control");
    let are_enabled = || {
        let enabled = fs::read_to_string(&control).unwrap_or_default();
        ["memory", "pids"].iter().all(|name| enabled.split_whitespace().any(|it| it == *name))
    };
    // The kernel refuses it for a cgroup with processes, or without these controllers.
    are_enabled() || fs::write(&control, "+memory +pids").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        39 31 0:36 / /sys/fs/cgroup/pids rw shared:5 - cgroup cgroup rw,pids\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    fn dir(groups: &str, mounts: &str) -> Option<String> {
        own_dir(groups, mounts).map(|(own, _)| own.display().to_string())
    }

    #[test]
    fn the_own_cgroup_is_found_beside_controllers_of_version_1() {
        let groups = "9:name=systemd:/\n8:pids:/\n4:cpu,memory:/a/b\n0::/user.slice/x.scope\n";
        let found = dir(groups, MOUNTS);
        assert_eq!(found.as_deref(), Some("/sys/fs/cgroup/unified/user.slice/x.scope"));
        assert_eq!(dir("8:pids:/\n4:memory:/a/b\n", MOUNTS), None);
    }

    /// In a container without a cgroup namespace, only a part of the hierarchy is mounted.
    #[test]
    fn a_cgroup_outside_of_the_mounted_part_is_not_used() {
        let mounts = "1 2 0:3 /docker/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(dir("0::/docker/a/x", mounts).as_deref(), Some("/sys/fs/cgroup/x"));
        assert_eq!(dir("0::/docker/b", mounts), None);
        assert_eq!(dir("", mounts), None);
    }

    /// A directory that looks like a cgroup.
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
        let (slice, scope) = (root.path().join("app.slice"), root.path().join("app.slice/x.scope"));
        cgroup(root.path(), "memory pids cpu\n", "max\n");
        cgroup(&slice, "cpu memory pids\n", "max\n");
        cgroup(&scope, "", "max\n");
        assert_eq!(delegated(&scope, root.path(), false), Some(slice.clone()));
        assert_eq!(delegated(&scope, root.path(), true), None, "root needs the mark of delegation");
        assert_eq!(delegated(root.path(), root.path(), false), None, "no ancestor");
        fs::write(scope.join("memory.max"), "1073741824\n").unwrap();
        assert_eq!(delegated(&scope, root.path(), false), None, "a sandbox would escape the limit");
    }

    #[test]
    fn missing_controllers_are_enabled_where_possible() {
        let root = tempfile::tempdir().unwrap();
        let (service, own) = (root.path().join("a.service"), root.path().join("a.service/main"));
        cgroup(root.path(), "memory pids", "max");
        cgroup(&service, "cpu", "max");
        cgroup(&own, "", "max");
        assert_eq!(delegated(&own, root.path(), false), Some(service.clone()));
        let control = fs::read_to_string(service.join("cgroup.subtree_control")).unwrap();
        assert_eq!(control, "+memory +pids");
    }
}
