//! The descendants of a process, read from `/proc`: their memory use, and how to kill them.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long a sandbox may take to terminate once its first process was killed.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// The children of a process that its main thread started.
fn children(pid: u32) -> Vec<u32> {
    children_of_thread(Path::new(&format!("/proc/{pid}/task/{pid}")))
}

fn children_of_thread(task: &Path) -> Vec<u32> {
    let pids = fs::read_to_string(task.join("children")).unwrap_or_default();
    pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The descendants of `root`, including children that were started by other threads than the first.
fn descendants(root: u32) -> Vec<u32> {
    let mut all = children(root);
    let mut next = 0;
    while let Some(&pid) = all.get(next) {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        all.extend(threads.flat_map(|thread| children_of_thread(&thread.path())));
        next += 1;
    }
    all
}

/// Memory of all descendants of `root` that is not backed by a file, in bytes: anonymous memory,
/// shared memory, and in-memory files that have no path.
pub(super) fn memory(root: u32) -> u64 {
    descendants(root).into_iter().map(|pid| resident(pid) + memfds(pid)).sum()
}

fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    (kib("RssAnon:").unwrap_or(0) + kib("RssShmem:").unwrap_or(0)) * 1024
}

/// The size of the `memfd` files that a process has open, in bytes.
fn memfds(pid: u32) -> u64 {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let size = |path: &Path| {
        let target = fs::read_link(path).ok()?;
        let is_memfd = target.to_string_lossy().starts_with("/memfd:");
        is_memfd.then(|| fs::metadata(path).map_or(0, |file| file.len()))
    };
    files.filter_map(|file| size(&file.path())).sum()
}

/// Kills a sandbox and waits for it. When its first process is killed, the kernel kills all others
/// in its process namespace before the process outside returns, so none is left afterwards.
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
    // The sandbox was not created yet, or does not terminate.
    let _ = child.kill();
    let _ = child.wait();
}

/// Kills a process group and waits for its leader. A process that left the group survives.
pub(super) fn kill_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An error means that the group has terminated already.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
