//! The cgroup of one sandbox: created before its command starts, removed after it was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::sandbox::{Limits, leftovers};

/// The processes of a sandbox that are not the command's: `bwrap` outside and inside, and the shell
/// that starts the command.
const OWN_PROCESSES: u64 = 4;

/// The largest values that the kernel accepts.
const MAX_MEMORY: u64 = 1 << 62;
const MAX_PROCESSES: u64 = 1 << 22;

/// How long the kernel may take to remove the last process from a cgroup.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(2);

/// The cgroup of one sandbox; removed when dropped.
#[derive(Debug)]
pub(in crate::sandbox) struct Cgroup {
    dir: PathBuf,
}

impl Cgroup {
    /// Creates the cgroup below `parent`, with its limits.
    ///
    /// # Errors
    /// If the kernel refuses it, or lacks the files of a controller.
    pub(super) fn create(parent: &Path, limits: &Limits) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("{}{}-{number}", leftovers::PREFIX, std::process::id()));
        fs::create_dir(&dir)?;
        // Dropped on an error, so the directory is removed.
        let cgroup = Self { dir };
        let memory = limits.memory_bytes().min(MAX_MEMORY).to_string();
        let pids = limits.processes.saturating_add(OWN_PROCESSES).min(MAX_PROCESSES).to_string();
        fs::write(cgroup.dir.join("memory.max"), memory)?;
        write_if_present(&cgroup.dir.join("memory.swap.max"), "0")?;
        write_if_present(&cgroup.dir.join("memory.oom.group"), "1")?;
        fs::write(cgroup.dir.join("pids.max"), pids)?;
        Ok(cgroup)
    }

    /// Moves a process into the cgroup.
    pub(super) fn join(&self, pid: u32) -> io::Result<()> {
        fs::write(self.dir.join("cgroup.procs"), pid.to_string())
    }

    /// Returns whether the kernel killed a process at the memory limit.
    pub(super) fn is_exceeded(&self) -> bool {
        let events = fs::read_to_string(self.dir.join("memory.events")).unwrap_or_default();
        let kills = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
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

/// Writes to a file that not every kernel has. In a cgroup, a file cannot be created.
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

/// Removes the cgroups of processes that were killed before they could remove them. One that
/// contains a process stays.
pub(super) fn remove_leftovers(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| leftovers::owner(entry).is_some_and(leftovers::is_dead)) {
        // An error means that it is in use, or was removed by another process.
        let _ = fs::remove_dir(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dir: &Path, file: &str) -> String {
        fs::read_to_string(dir.join(file)).unwrap()
    }

    fn limits() -> Limits {
        Limits { memory_mb: 100, processes: 10, ..Limits::default() }
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
        for name in ["dsrs-sandbox-4200000-1", "dsrs-sandbox-4200001-0", &alive, "other-4200000"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        fs::write(root.path().join("dsrs-sandbox-4200001-0/busy"), "").unwrap();
        remove_leftovers(root.path());
        let left = fs::read_dir(root.path()).unwrap().flatten();
        let mut left: Vec<_> = left.map(|it| it.file_name().into_string().unwrap()).collect();
        left.sort();
        let mut expected = [&*alive, "dsrs-sandbox-4200001-0", "other-4200000"];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }
}
