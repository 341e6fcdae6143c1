//! Finds the descendants of a process in `/proc`, and kills them. Also removes the temporary files of killed processes.
//!
//! The name of a temporary file or directory contains the id of its process, so the next process can remove it.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::Once;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// How long a sandbox can take to terminate after its first process is killed.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns `true` if `/proc` lists a process's children. Without these lists, a sandbox's processes cannot be found.
pub(super) fn is_readable() -> bool {
    Path::new("/proc/thread-self/children").exists()
}

/// Returns the children that a process's main thread started.
fn children(pid: u32) -> Vec<u32> {
    children_of_thread(pid, pid)
}

fn children_of_thread(pid: u32, thread: u32) -> Vec<u32> {
    let pids = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children"));
    pids.unwrap_or_default()
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Returns the threads of a process.
pub(super) fn threads(pid: u32) -> impl Iterator<Item = u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok())
}

/// Returns the first process inside the sandbox that `root` created.
pub(super) fn first(root: u32) -> Option<u32> {
    children(root).first().copied()
}

/// Returns the descendants of `root`, including children started by threads other than the main thread.
pub(super) fn descendants(root: u32) -> Vec<u32> {
    let mut all = children(root);
    let mut next = 0;
    while let Some(&pid) = all.get(next) {
        all.extend(threads(pid).flat_map(|thread| children_of_thread(pid, thread)));
        next += 1;
    }
    all
}

/// Kills a sandbox and waits for it to end. When its first process is killed, the kernel kills all others in its
/// process namespace before the outer process returns, so none is left.
pub(super) fn kill_namespace(child: &mut Child) {
    for pid in children(child.id()) {
        kill(pid);
    }
    let started = Instant::now();
    while started.elapsed() < TERMINATION_TIMEOUT {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // The sandbox does not exist yet, or does not terminate.
    let _ = child.kill();
    let _ = child.wait();
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// The start of each temporary name, followed by the process id and something unique within the process.
pub(super) const TEMPORARY_PREFIX: &str = "dsrs-sandbox-";

/// Returns the name prefix for this process's temporary files and directories. The first call removes the temporary
/// files and directories that killed processes left behind.
pub(super) fn temporary_prefix() -> String {
    static LEFTOVERS: Once = Once::new();
    LEFTOVERS.call_once(|| remove_stale_files(&std::env::temp_dir()));
    format!("{TEMPORARY_PREFIX}{}-", std::process::id())
}

/// Removes the entries of dead processes and of this one. This process has no entries yet, but process ids repeat in
/// containers. Removal is best effort: another user's entries stay.
fn remove_stale_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = rustix::process::getpid();
        if !owner(&entry).is_some_and(|process| process == own || is_dead(process)) {
            continue;
        }
        // Neither of these calls follows a symbolic link.
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
}

/// Returns the process id from the name `dsrs-sandbox-PROCESS-UNIQUE` of a file or directory.
pub(super) fn owner(entry: &fs::DirEntry) -> Option<Pid> {
    let name = entry.file_name();
    let (process, _) = name
        .to_str()?
        .strip_prefix(TEMPORARY_PREFIX)?
        .split_once('-')?;
    let process = process.parse().ok();
    process.filter(|it| *it > 0).and_then(Pid::from_raw)
}

pub(super) fn is_dead(process: Pid) -> bool {
    test_kill_process(process) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::remove_stale_files;

    #[test]
    fn only_entries_of_dead_processes_are_removed() {
        let mut child = Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let leftover = path(&format!("dsrs-sandbox-{dead}-a"));
        fs::create_dir_all(leftover.join("inner")).unwrap();
        fs::write(leftover.join("inner/main.py"), "secret").unwrap();
        fs::write(path(&format!("dsrs-sandbox-{dead}-b")), "filter").unwrap();
        std::os::unix::fs::symlink(path("kept"), path(&format!("dsrs-sandbox-{dead}-c"))).unwrap();
        // Process 1 is alive.
        let kept = [
            "dsrs-sandbox-1-x",
            "dsrs-sandbox-x",
            "dsrs-sandbox--1-x",
            "kept",
        ];
        kept.iter()
            .for_each(|name| fs::create_dir(path(name)).unwrap());

        remove_stale_files(folder.path());

        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(
            names,
            [
                "dsrs-sandbox--1-x",
                "dsrs-sandbox-1-x",
                "dsrs-sandbox-x",
                "kept"
            ]
        );
    }
}
