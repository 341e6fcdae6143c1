//! Temporary files and directories of killed processes. Their names contain the id of the process, so the next process
//! can remove them.

use std::fs;
use std::path::Path;
use std::sync::Once;

use rustix::process::{Pid, test_kill_process};

/// The start of each name, followed by the process id and something unique within the process.
pub(super) const PREFIX: &str = "dsrs-sandbox-";

/// Returns the prefix of the names of this process's temporary files and directories. The first call
/// removes the files and directories of killed processes.
pub(super) fn prefix() -> String {
    static LEFTOVERS: Once = Once::new();
    LEFTOVERS.call_once(|| remove(&std::env::temp_dir()));
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the entries of dead processes, and of this one: it has none yet, and process ids repeat in containers. This
/// is best effort: another user's entries stay.
fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let own = rustix::process::getpid();
        if !owner(&entry).is_some_and(|process| process == own || is_dead(process)) {
            continue;
        }
        // Neither of these follows a symbolic link.
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
            _ => fs::remove_file(entry.path()),
        };
    }
}

/// Returns the process in the name `dsrs-sandbox-PROCESS-UNIQUE` of a file or directory.
pub(super) fn owner(entry: &fs::DirEntry) -> Option<Pid> {
    let name = entry.file_name();
    let (process, _) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    process
        .parse()
        .ok()
        .filter(|process| *process > 0)
        .and_then(Pid::from_raw)
}

pub(super) fn is_dead(process: Pid) -> bool {
    test_kill_process(process) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::remove;

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

        remove(folder.path());

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
