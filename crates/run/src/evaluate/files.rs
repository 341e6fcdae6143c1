//! The files that a run writes: hidden files, and files that appear under their names once complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempPath;

use crate::named_files::WriteLock;

/// A file that is replaced atomically.
///
/// The content is first written to a hidden file in the same folder. This file then replaces the target, so a killed
/// process or a full disk leaves the old file intact.
///
/// Until the target is replaced, no other run can write to it.
///
/// If the path is a symbolic link, its target is replaced. Pipes and devices are written directly.
pub struct OutputFile {
    /// The hidden file, or a pipe or device, which must not be replaced with a file.
    file: File,
    /// The names of the files, or `None` for a pipe or device.
    names: Option<Names>,
}

struct Names {
    hidden: TempPath,
    /// The final name of the file, with symbolic links resolved.
    target: PathBuf,
    _lock: WriteLock,
}

impl OutputFile {
    /// Creates the hidden file that later replaces the target.
    ///
    /// If the target cannot be written, this call fails early. It also removes hidden files left behind by killed
    /// processes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if another process or thread is writing to it.
    #[doc(hidden)]
    pub fn create(path: &Path) -> io::Result<Self> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        stale_files::remove(&real_path(path));
        let existing = fs::metadata(path).ok();
        if let Some(kind) = &existing {
            if kind.is_dir() {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    "it is a directory",
                ));
            }
            // Opening the file checks that it is writable, and changes nothing yet.
            let file = File::options().append(true).open(path)?;
            if !kind.is_file() {
                return Ok(Self { file, names: None });
            }
        }
        let target = real_path(path);
        let _lock = WriteLock::of(&target)?;
        let (file, hidden) = hidden_beside(&target, false)?;
        if let Some(existing) = existing {
            // Set before anything is written, because other users may not be allowed to read it.
            file.set_permissions(existing.permissions())?;
        }
        let names = Some(Names {
            hidden,
            target,
            _lock,
        });
        Ok(Self { file, names })
    }

    /// Writes the content and replaces the target.
    #[doc(hidden)]
    pub fn write<T, E: From<io::Error>>(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
    ) -> Result<T, E> {
        let written = self.fill(write)?;
        self.publish()?;
        Ok(written)
    }

    /// Writes the content without touching the old file. A pipe or device is written directly.
    pub(crate) fn fill<T, E: From<io::Error>>(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut out = BufWriter::with_capacity(1 << 16, self.file.try_clone()?);
        let written = write(&mut out)?;
        out.flush()?;
        // Synced before the rename, so a crash leaves either the old file or the complete new one.
        if self.is_renamed() {
            self.file.sync_all()?;
        }
        Ok(written)
    }

    /// Gives the file its final name once it is filled.
    pub(crate) fn publish(&self) -> io::Result<()> {
        let names = self.names.as_ref();
        names.map_or(Ok(()), |names| fs::rename(&names.hidden, &names.target))
    }

    /// Gives the filled file a temporary name in the same folder until the file is published.
    pub(crate) fn stage(&mut self, name: &Path) -> io::Result<()> {
        if let Some(names) = &mut self.names {
            fs::rename(&names.hidden, name)?;
            names.hidden = TempPath::try_from_path(name)?;
        }
        Ok(())
    }

    /// Keeps the staged file if it could not be published.
    pub(crate) fn keep_staged(&mut self) {
        if let Some(names) = &mut self.names {
            names.hidden.disable_cleanup(true);
        }
    }

    /// Gives the file the permissions of another file that is not written yet.
    pub(crate) fn set_permissions_of(&self, other: &Self) -> io::Result<()> {
        let permissions = other.file.metadata()?.permissions();
        self.file.set_permissions(permissions)
    }

    /// Returns `true` if the file replaces the target. Pipes and devices are written directly.
    pub(crate) fn is_renamed(&self) -> bool {
        self.names.is_some()
    }

    /// Returns the path that temporary files are created next to.
    pub(crate) fn beside(&self) -> PathBuf {
        let target = self.names.as_ref().map(|names| names.target.clone());
        target.unwrap_or_else(in_temporary_folder)
    }

    /// Replaces the hidden file. Tests use this to make it fail.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn replace_file(&mut self, other: File) {
        self.file = other;
    }
}

/// Returns a target for temporary files that belong to no output file. Its name is in the system's temporary folder.
pub(crate) fn in_temporary_folder() -> PathBuf {
    std::env::temp_dir().join("dsrs-metrics")
}

/// Creates a hidden file in the folder of another file. The hidden file is removed when the path is dropped. Process
/// ids repeat in containers, so a killed process may have left a file with the same name. A private file is readable
/// only by its owner; for other files, the process's umask determines who can read them.
pub(super) fn hidden_beside(target: &Path, is_private: bool) -> io::Result<(File, TempPath)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut name = OsString::from(".");
        name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
        name.push(format!(".{}-{number}.tmp", std::process::id()));
        let path = target.with_file_name(name);
        match options.open(&path) {
            Ok(file) => {
                #[cfg(all(unix, feature = "ctrl-c"))]
                stale_files::lock(&file);
                let path = TempPath::try_from_path(path)?;
                // Another run may have removed it before it was locked.
                if fs::exists(&path)? {
                    return Ok((file, path));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // The folder does not exist, so another name would not help.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
            Err(error) => {
                let reason = format!("temporary file `{}`: {error}", path.display());
                return Err(io::Error::new(error.kind(), reason));
            }
        }
    }
}

/// The maximum number of symbolic links to follow. As in the kernel, a longer chain counts as a cycle.
const MAX_LINKS: usize = 40;

/// Returns the canonical path, with symbolic links resolved.
///
/// The file does not have to exist yet.
pub fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
        let (Ok(folder), Some(name)) = (folder, path.file_name()) else {
            return path;
        };
        path = folder.join(name);
        match fs::read_link(&path) {
            Ok(target) if fs::metadata(&path).is_err() => path = folder.join(target),
            _ => return path,
        }
    }
    path
}

/// Temporary files of killed runs. A run keeps its temporary files locked until it ends. The next run that writes the
/// same output file removes those that are no longer locked.
#[cfg(all(unix, feature = "ctrl-c"))]
pub(super) mod stale_files {
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
    use rustix::process::{Pid, test_kill_process};

    /// Locks a temporary file until it is closed. If the file system does not support locks, only process ids protect
    /// the file.
    pub(crate) fn lock(file: &File) {
        let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
    }

    /// Removes unlocked temporary files next to `target` whose process is dead. This is best effort: a file that cannot
    /// be removed does no harm.
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

    /// Returns the process id in the name `.TARGET.PROCESS-NUMBER.tmp` of a temporary file.
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
        // In `/tmp`, another user could have replaced the file with a link or a pipe.
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
}
