//! The cgroup below which every sandbox gets its own.
//!
//! A sandbox stays below all memory limits of the current process: a version 1 cgroup is created
//! below its own, and a version 2 cgroup beside it only if its own has no limit.

use std::fs;
use std::path::{Path, PathBuf};

use super::kind::Accounting;

/// An existing cgroup in which others may be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parent {
    V2(PathBuf),
    V1 { memory: PathBuf, pids: PathBuf },
}

impl Parent {
    pub(super) fn accounting(&self) -> Accounting {
        match self {
            Self::V2(_) => Accounting::CgroupV2,
            Self::V1 { .. } => Accounting::CgroupV1,
        }
    }

    /// The directories in which each sandbox gets one.
    pub(super) fn dirs(&self) -> Vec<&Path> {
        match self {
            Self::V2(dir) => vec![dir],
            Self::V1 { memory, pids } => vec![memory, pids],
        }
    }
}

/// The cgroups of this process in which others may be created, best first.
pub(super) fn find() -> Vec<Parent> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (groups, mounts) = (read("/proc/self/cgroup"), read("/proc/self/mountinfo"));
    let is_root = rustix::process::geteuid().is_root();
    let v2 = own_dir(&groups, &mounts, None);
    let v2 = v2
        .and_then(|(own, mount)| delegated(&own, &mount, is_root))
        .map(Parent::V2);
    let v1 = |controller| own_dir(&groups, &mounts, Some(controller)).map(|(own, _)| own);
    let v1 = v1("memory")
        .zip(v1("pids"))
        .map(|(memory, pids)| Parent::V1 { memory, pids });
    v2.into_iter()
        .chain(v1.filter(|it| it.dirs().into_iter().all(is_writable)))
        .collect()
}

/// The directory of this process's cgroup, and the mount point of its hierarchy: the hierarchy of a
/// version 1 controller, or of version 2. `groups` is `/proc/self/cgroup`, `mounts` is `/proc/self/mountinfo`.
fn own_dir(groups: &str, mounts: &str, controller: Option<&str>) -> Option<(PathBuf, PathBuf)> {
    let own = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let is_it = match controller {
            Some(name) => controllers.split(',').any(|it| it == name),
            None => controllers.is_empty(),
        };
        is_it.then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let (kind, options) = (after.next()?, after.nth(1)?);
        let is_it = match controller {
            Some(name) => kind == "cgroup" && options.split(',').any(|it| it == name),
            None => kind == "cgroup2",
        };
        let mut before = before.split(' ').skip(3);
        let (root, mount) = (before.next()?, Path::new(before.next()?));
        let inner = Path::new(own).strip_prefix(root).ok().filter(|_| is_it)?;
        Some((mount.join(inner), mount.to_owned()))
    })
}

/// The nearest ancestor of a version 2 cgroup in which this process may create others.
///
/// The cgroup itself cannot be used: it contains a process, and the kernel enables no memory
/// controller for the children of such a cgroup. A sandbox beside it must not escape a limit on it.
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

/// Whether systemd has handed the cgroup over. Root can write to every cgroup, but cgroups
/// of systemd have a single owner.
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
        ["memory", "pids"]
            .iter()
            .all(|name| enabled.split_whitespace().any(|it| it == *name))
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

    fn dir(groups: &str, mounts: &str, controller: Option<&str>) -> Option<String> {
        own_dir(groups, mounts, controller).map(|(own, _)| own.display().to_string())
    }

    #[test]
    fn the_own_cgroup_of_each_hierarchy_is_found() {
        let groups = "9:name=systemd:/\n8:pids:/\n4:cpu,memory:/a/b\n0::/user.slice/x.scope\n";
        let found = |controller| dir(groups, MOUNTS, controller);
        assert_eq!(
            found(Some("memory")).as_deref(),
            Some("/sys/fs/cgroup/memory/a/b")
        );
        assert_eq!(found(Some("pids")).as_deref(), Some("/sys/fs/cgroup/pids/"));
        assert_eq!(
            found(None).as_deref(),
            Some("/sys/fs/cgroup/unified/user.slice/x.scope")
        );
        assert_eq!(found(Some("hugetlb")), None);
    }

    /// In a container without a cgroup namespace, only a part of the hierarchy is mounted.
    #[test]
    fn a_cgroup_outside_of_the_mounted_part_is_not_used() {
        let mounts = "1 2 0:3 /docker/a /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        assert_eq!(
            dir("0::/docker/a/x", mounts, None).as_deref(),
            Some("/sys/fs/cgroup/x")
        );
        assert_eq!(dir("0::/docker/b", mounts, None), None);
        assert_eq!(dir("", mounts, None), None);
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
