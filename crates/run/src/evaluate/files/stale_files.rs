//! Temporary files of killed runs. A run keeps its temporary files locked until it ends. The next run that writes the
//! same output file removes those that are no longer locked.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::process::{Pid, test_kill_process};

/// Locks a temporary file until it is closed. If the file system has no locks, only process ids protect it.
pub(crate) fn lock(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Removes unlocked temporary files beside `target` whose process is dead. This is best effort: a file that cannot be
/// removed does no harm.
pub(crate) fn remove(target: &Path) {
    let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else {
        return;
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let process = process(&entry.file_name(), name).filter(|_| is_file);
        if process.is_some_and(|process| !is_other_live_process(process)) {
            let _ = remove_unlocked(&entry.path());
        }
    }
}

/// Returns the process in the name `.TARGET.PROCESS-NUMBER.tmp` of a temporary file.
fn process(file: &OsStr, target: &OsStr) -> Option<i32> {
    let rest = file
        .as_bytes()
        .strip_prefix(b".")?
        .strip_prefix(target.as_bytes())?;
    let rest = rest.strip_prefix(b".")?.strip_suffix(b".tmp")?;
    let (process, number) = str::from_utf8(rest).ok()?.split_once('-')?;
    number.parse::<u64>().ok()?;
    process.parse().ok()
}

fn is_other_live_process(process: i32) -> bool {
    let is_self = u32::try_from(process) == Ok(std::process::id());
    let result = Pid::from_raw(process).map(test_kill_process);
    !is_self && result.is_some_and(|result| result != Err(rustix::io::Errno::SRCH))
}

fn remove_unlocked(path: &Path) -> io::Result<()> {
    // In `/tmp`, another user may replace the file with a link or a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::empty())?;
    // Process ids are local to a container, but locks are visible to all.
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::process;

    #[test]
    fn only_names_of_temporary_files_match() {
        let process = |file: &str| process(OsStr::new(file), OsStr::new("out.jsonl"));
        assert_eq!(process(".out.jsonl.12-0.tmp"), Some(12));
        for other in [
            "out.jsonl",
            ".out.jsonl.tmp",
            ".out.jsonl.12.tmp",
            ".out.jsonl.x-0.tmp",
            ".out.jsonl.12-x.tmp",
            ".out.jsonl.12-0.tmp.bak",
            ".other.out.jsonl.12-0.tmp",
        ] {
            assert_eq!(process(other), None, "{other}");
        }
    }
}
