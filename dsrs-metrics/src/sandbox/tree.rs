//! The processes below a process, read from `/proc`: what they use, and how all of them are ended.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How long a sandbox is given to fall apart once its first process was killed.
const FALL: Duration = Duration::from_secs(2);

fn children(pid: u32) -> Vec<u32> {
    let read = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let numbers = |text: String| text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    read.map(numbers).unwrap_or_default()
}

/// The processes below `root`. Children of other threads than the first belong to them too.
fn descendants(root: u32) -> Vec<u32> {
    let mut all = children(root);
    let mut at = 0;
    while let Some(&pid) = all.get(at) {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let text = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(text.split_whitespace().filter_map(|n| n.parse::<u32>().ok()));
        }
        at += 1;
    }
    all
}

/// Memory of all processes below `root` that no file stands behind, in bytes: their own, what they share, and files in
/// memory that no folder holds.
pub(super) fn memory(root: u32) -> u64 {
    descendants(root).into_iter().map(|pid| resident(pid) + nameless_files(pid)).sum()
}

fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    (kib("RssAnon:").unwrap_or(0) + kib("RssShmem:").unwrap_or(0)) * 1024
}

fn nameless_files(pid: u32) -> u64 {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let size = |path: std::path::PathBuf| {
        let target = fs::read_link(&path).ok()?;
        let nameless = target.to_string_lossy().starts_with("/memfd:");
        let size = || fs::metadata(&path).map_or(0, |file| file.len());
        nameless.then(size)
    };
    files.filter_map(|file| size(file.path())).sum()
}

/// Ends a sandbox. Its first process is killed, with which the kernel kills all others before the one outside returns; so
/// when that has been waited for, nothing is left.
pub(super) fn end_namespace(child: &mut Child) {
    for pid in children(child.id()) {
        kill(pid);
    }
    let started = Instant::now();
    while started.elapsed() < FALL {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // It had not made the sandbox yet, or would not go.
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends a process group, which a process may have left.
pub(super) fn end_group(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // That there is none any more is what is wanted.
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
