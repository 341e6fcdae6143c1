//! Finds the descendants of a process in `/proc`, and kills them.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long a sandbox may take to terminate after its first process is killed.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(2);

/// Returns `true` if `/proc` lists the children of a process. Without these lists, the processes of a sandbox cannot be
/// found.
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

/// Returns the first process inside the sandbox that `root` made.
pub(super) fn first(root: u32) -> Option<u32> {
    children(root).first().copied()
}

/// Returns the descendants of `root`, including children that threads other than the first started.
pub(super) fn descendants(root: u32) -> Vec<u32> {
    let mut all = children(root);
    let mut next = 0;
    while let Some(&pid) = all.get(next) {
        all.extend(threads(pid).flat_map(|thread| children_of_thread(pid, thread)));
        next += 1;
    }
    all
}

/// Kills a sandbox and waits for it. When its first process is killed, the kernel kills all others in its process
/// namespace before the process outside returns, so none is left.
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
        // An error means that the group has already terminated.
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
