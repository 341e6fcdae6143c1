//! The cgroup of one sandbox: created before its command starts, removed after it was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::parent::Parent;
use crate::{Limits, stale_files};

/// The processes of a sandbox that do not belong to the command: `bwrap` outside and inside, and the shell
/// that starts the command.
const OWN_PROCESSES: u64 = 4;

/// The largest values that the kernel accepts.
const MAX_MEMORY: u64 = 1 << 62;
const MAX_PROCESSES: u64 = 1 << 22;

/// How long the kernel may take to remove the last process from a cgroup.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(2);

/// The cgroup of one sandbox, in each hierarchy; removed when dropped.
#[derive(Debug)]
pub(crate) struct Cgroup {
    dirs: Vec<PathBuf>,
    /// The file with the number of processes that the kernel killed at the memory limit.
    events: PathBuf,
}

impl Cgroup {
    /// Creates the cgroup below `parent`, with its limits.
    ///
    /// # Errors
    /// If the kernel refuses it, or lacks the files of a controller.
    pub(super) fn create(parent: &Parent, limits: &Limits) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}{}-{number}", stale_files::PREFIX, std::process::id());
        // Dropped on an error, so a directory that was created is removed.
        let mut cgroup = Self {
            dirs: Vec::new(),
            events: PathBuf::new(),
        };
        for dir in parent.dirs() {
            let dir = dir.join(&name);
            fs::create_dir(&dir)?;
            cgroup.dirs.push(dir);
        }
        let memory = limits.memory_bytes().min(MAX_MEMORY).to_string();
        let pids = limits
            .processes
            .saturating_add(OWN_PROCESSES)
            .min(MAX_PROCESSES)
            .to_string();
        match &*cgroup.dirs {
            [dir] => {
                fs::write(dir.join("memory.max"), memory)?;
                write_if_present(&dir.join("memory.swap.max"), "0")?;
                write_if_present(&dir.join("memory.oom.group"), "1")?;
                fs::write(dir.join("pids.max"), pids)?;
                cgroup.events = dir.join("memory.events");
            }
            [dir, process_dir] => {
                fs::write(dir.join("memory.limit_in_bytes"), &memory)?;
                write_if_present(&dir.join("memory.memsw.limit_in_bytes"), &memory)?;
                // Buffers of TCP and UDP have a limit of their own, and none unless one is set.
                let buffers = (limits.memory_bytes() / 4).to_string();
                fs::write(dir.join("memory.kmem.tcp.limit_in_bytes"), buffers)?;
                fs::write(process_dir.join("pids.max"), pids)?;
                cgroup.events = dir.join("memory.oom_control");
            }
            _ => {
                return Err(io::Error::other(
                    "expected a cgroup for memory and processes",
                ));
            }
        }
        Ok(cgroup)
    }

    /// Moves a process into the cgroup.
    pub(super) fn join(&self, pid: u32) -> io::Result<()> {
        self.dirs
            .iter()
            .try_for_each(|dir| fs::write(dir.join("cgroup.procs"), pid.to_string()))
    }

    /// Returns whether the kernel killed a process at the memory limit.
    pub(super) fn is_exceeded(&self) -> bool {
        let events = fs::read_to_string(&self.events).unwrap_or_default();
        let kills = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        kills.is_some_and(|count| count.trim() != "0")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let deadline = Instant::now() + REMOVAL_TIMEOUT;
        for dir in self.dirs.iter().rev() {
            while let Err(error) = fs::remove_dir(dir) {
                let is_busy = error.kind() == io::ErrorKind::ResourceBusy;
                if !is_busy || Instant::now() >= deadline {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
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
pub(super) fn remove_leftovers(parent: &Parent) {
    for dir in parent.dirs() {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        for entry in
            entries.filter(|entry| stale_files::owner(entry).is_some_and(stale_files::is_dead))
        {
            // An error means that it is in use, or was removed by another process.
            let _ = fs::remove_dir(entry.path());
        }
    }
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
    fn limits_are_written_for_version_2() {
        let root = tempfile::tempdir().unwrap();
        let cgroup = Cgroup::create(&Parent::V2(root.path().to_owned()), &limits()).unwrap();
        let [dir] = &*cgroup.dirs else {
            panic!("{cgroup:?}")
        };
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
    fn limits_are_written_for_version_1() {
        let (memory, pids) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let parent = Parent::V1 {
            memory: memory.path().to_owned(),
            pids: pids.path().to_owned(),
        };
        let cgroup = Cgroup::create(&parent, &limits()).unwrap();
        let [dir, processes] = &*cgroup.dirs else {
            panic!("{cgroup:?}")
        };
        assert!(dir.starts_with(memory.path()) && processes.starts_with(pids.path()));
        for file in ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"] {
            assert_eq!(read(dir, file), "104857600", "{file}");
        }
        assert_eq!(read(dir, "memory.kmem.tcp.limit_in_bytes"), "26214400");
        assert_eq!(read(processes, "pids.max"), "14");
        cgroup.join(4711).unwrap();
        assert_eq!(
            (read(dir, "cgroup.procs"), read(processes, "cgroup.procs")),
            ("4711".to_owned(), "4711".to_owned())
        );
        fs::write(
            dir.join("memory.oom_control"),
            "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        )
        .unwrap();
        assert!(cgroup.is_exceeded());
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
        remove_leftovers(&Parent::V2(root.path().to_owned()));
        let left = fs::read_dir(root.path()).unwrap().flatten();
        let mut left: Vec<_> = left
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = [&*alive, "dsrs-sandbox-4200001-0", "other-4200000"];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }
}
