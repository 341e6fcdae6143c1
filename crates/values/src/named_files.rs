//! Opens files that the caller names. Only regular files are read, and files are locked before they are written.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of attempts to take a lock, and the pause between them. A program started by this process holds a copy of
/// the lock until it is loaded.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Opens a regular file for reading.
///
/// Opening a pipe is an error, because reading from it could block forever.
///
/// # Errors
/// Returns an error if the file cannot be opened or is a folder, pipe, socket or device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    require_regular(path)?;
    File::open(path)
}

/// Reads a regular file into a string.
///
/// # Errors
/// Returns an error if [`open_regular`] does, or if the file is not UTF-8.
pub fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Checks that a path is a regular file or does not exist.
///
/// # Errors
/// Returns an error that says what was found instead.
pub fn require_regular(path: &Path) -> io::Result<()> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_dir() => "a folder",
        Ok(found) if !found.is_file() => "a pipe, socket or device",
        _ => return Ok(()),
    };
    let reason = format!("expected a regular file, found {found}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Locks a file.
///
/// If the file is already locked, this function retries for a short time.
///
/// # Errors
/// Returns the same errors as [`File::try_lock`].
pub fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            result => return result,
        }
    }
    file.try_lock()
}

/// An exclusive lock for writing to a file, released on drop.
///
/// The lock is on a hidden file next to the file itself. If the process dies, the kernel releases the lock, so a
/// leftover hidden file is harmless.
#[derive(Debug)]
pub struct WriteLock {
    /// Locked until closed.
    _file: File,
    path: PathBuf,
}

impl WriteLock {
    /// Locks the file at a path for writing.
    ///
    /// The file does not need to exist.
    ///
    /// # Errors
    /// Returns an error of kind `ResourceBusy` if another process or thread is writing the file. Returns the original
    /// error if the hidden file cannot be opened.
    pub fn of(target: &Path) -> io::Result<Self> {
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
        name.push(".lock");
        let path = target.with_file_name(name);
        loop {
            let file = match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match open_regular(&path) {
                        // The last writer has removed it.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        opened => opened?,
                    }
                }
                created => created?,
            };
            match lock(&file) {
                Err(TryLockError::WouldBlock) => {
                    let reason = "another run is writing to it; wait until that run ends, or write to another file";
                    return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
                }
                // If the file system has no locks, nobody can hold one.
                Ok(()) | Err(TryLockError::Error(_)) if is_at(&file, &path) => {
                    return Ok(Self { _file: file, path });
                }
                _ => {}
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // A leftover does no harm. Another process cannot have locked it yet.
        let _ = fs::remove_file(&self.path);
    }
}

fn create(path: &Path) -> io::Result<File> {
    let file = File::options().write(true).create_new(true).open(path)?;
    // Another user who may write the same file can open it too.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o444))?;
    Ok(file)
}

/// Returns `true` if the path still names the open file.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |found: fs::Metadata| (found.dev(), found.ino());
        file.metadata().map(id).ok() == fs::metadata(path).map(id).ok()
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::WriteLock;

    #[test]
    fn one_writer_at_a_time_and_a_lock_file_that_is_left_behind_blocks_nobody() {
        let folder = std::env::temp_dir().join(format!("dsrs-write-lock-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let target = folder.join("out.jsonl");
        fs::write(folder.join(".out.jsonl.lock"), "").unwrap();
        let first = WriteLock::of(&target).unwrap();
        assert_eq!(
            WriteLock::of(&target).unwrap_err().to_string(),
            "another run is writing to it; wait until that run ends, or write to another file"
        );
        drop(WriteLock::of(&folder.join("other.jsonl")).unwrap());
        // A second writer keeps trying while the first one finishes.
        let second = std::thread::scope(|scope| {
            let second = scope.spawn(|| WriteLock::of(&target));
            drop(first);
            second.join().unwrap().unwrap()
        });
        drop(second);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir(folder).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_missing_folder_and_a_folder_in_place_of_the_hidden_file_are_errors() {
        let folder = std::env::temp_dir().join(format!("dsrs-no-lock-{}", std::process::id()));
        let error = WriteLock::of(&folder.join("out")).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        fs::create_dir_all(folder.join(".out.lock")).unwrap();
        let error = WriteLock::of(&folder.join("out")).unwrap_err();
        assert_eq!(error.to_string(), "expected a regular file, found a folder");
        fs::remove_dir_all(folder).unwrap();
    }
}
