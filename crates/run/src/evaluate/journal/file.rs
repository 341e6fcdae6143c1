//! The file of a journal: opening and locking it, and the operations that a log needs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::error::JournalError;
use crate::named_files;

/// The name of the file in the directory of a journal.
pub(super) const FILE_NAME: &str = "journal.log";

/// The operations of a log on its file. Tests replace them by operations that fail.
pub(crate) trait LogFile: Send + Sync {
    /// Appends bytes, and returns how many were written.
    fn append(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Waits until everything is on the disk.
    fn sync(&self) -> io::Result<()>;

    /// Removes everything after this length, in bytes.
    fn truncate(&self, length: u64) -> io::Result<()>;
}

impl LogFile for File {
    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(windows)]
        io::Seek::seek(&mut &*self, io::SeekFrom::End(0))?;
        (&mut &*self).write(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// Returns whether the file exists. Anything but a regular file is refused before it is opened, since a pipe would block.
pub(super) fn exists(path: &Path, dir: &Path) -> Result<bool, JournalError> {
    let found = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => return Ok(true),
        Ok(found) if found.is_dir() => "a directory",
        Ok(_) => "a pipe, socket or device",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(JournalError::open(dir, &error)),
    };
    let reason = format!("expected a regular file `{FILE_NAME}`, found {found}");
    Err(JournalError::Format { dir: dir.to_owned(), reason })
}

/// Opens or creates the file, for this user only.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Windows cannot truncate a file that is opened to append.
    options.read(true).write(true).append(cfg!(not(windows))).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Locks the journal until its file, and the file that is returned, are closed. The kernel releases the lock of a process that dies.
pub(super) fn lock(file: &File, dir: &Path) -> Result<Option<File>, JournalError> {
    // On Windows a locked file can be read only through the handle that locked it, and a journal is read through another one.
    let beside = cfg!(windows).then(|| open(&dir.join("journal.lock"))).transpose();
    let beside = beside.map_err(|error| JournalError::open(dir, &error))?;
    let file = beside.as_ref().unwrap_or(file);
    match named_files::lock(file) {
        Ok(()) => Ok(beside),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(JournalError::open(dir, &error)),
    }
}

/// Syncs the entries of a directory. Only Unix can open one.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(dir)?.sync_all()?;
    let _ = dir;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_off_found_and_locked_again_after_a_short_wait() {
        let path = std::env::temp_dir().join(format!("dsrs-metrics-file-{}", std::process::id()));
        let dir = Path::new("j");
        assert!(!exists(&path, dir).unwrap());
        let file = open(&path).unwrap();
        assert!(exists(&path, dir).unwrap());
        assert_eq!(LogFile::append(&file, b"abcdef").unwrap(), 6);
        LogFile::truncate(&file, 2).unwrap();
        LogFile::append(&file, b"x").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abx");
        // The parent of this path is a regular file.
        #[cfg(unix)]
        assert!(matches!(exists(&path.join("journal.log"), dir), Err(JournalError::Open { .. })));

        let holder = open(&path).unwrap();
        holder.lock().unwrap();
        assert!(matches!(lock(&file, dir), Err(JournalError::InUse { .. })));
        let releases = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            drop(holder);
        });
        assert!(lock(&file, dir).is_ok());
        releases.join().unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
