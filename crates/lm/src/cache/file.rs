//! The cache file: opening it, accessing it, and converting its errors.

use std::error::Error;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, ReadOnlyDatabase, StorageError};

use super::super::{LmError, LmErrorKind};

/// An open file. redb trusts the pages of a file that it has opened, and panics where the disk has
/// changed one. Such a panic becomes an error, and the file is not accessed again.
#[derive(Debug)]
pub(super) struct File<D = Database> {
    path: PathBuf,
    /// `None` only while the file is closed.
    database: Option<D>,
    is_damaged: AtomicBool,
}

const DAMAGED: &str = "the file is damaged; move the file away to start a new cache";
const OTHER_DIRECTORY: &str =
    "set DSRS_CACHE to another directory, or disable the cache (--no-cache)";

impl File {
    /// Opens or creates the file. `None` if it is in use: another process has it open, or this process is about to close it
    /// on another thread.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, LmError> {
        let database = opened(path, |path| match open(path) {
            Err(DatabaseError::DatabaseAlreadyOpen) => Ok(None),
            opened => opened.map(Some),
        });
        Ok(database?.map(|database| Self::new(path, database)))
    }
}

impl File<ReadOnlyDatabase> {
    /// Opens an existing file, and writes nothing. A file that a killed process left open is repaired first, without which it
    /// cannot be read.
    pub(super) fn open_read_only(path: &Path) -> Result<Self, LmError> {
        let database = opened(path, |path| match unless_in_use(|| ReadOnlyDatabase::open(path)) {
            Err(DatabaseError::RepairAborted) => {
                drop(unless_in_use(|| open(path))?);
                ReadOnlyDatabase::open(path)
            }
            opened => opened,
        });
        Ok(Self::new(path, database?))
    }
}

impl<D> File<D> {
    fn new(path: &Path, database: D) -> Self {
        let (path, is_damaged) = (path.to_owned(), AtomicBool::new(false));
        Self { path, database: Some(database), is_damaged }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `access`, which reads or writes the database.
    pub(super) fn with<T>(
        &self,
        access: impl FnOnce(&D) -> Result<T, redb::Error>,
    ) -> Result<T, LmError> {
        let Some(database) = self.database.as_ref().filter(|_| !self.is_damaged()) else {
            return Err(self.error(DAMAGED));
        };
        match catch_panic(|| access(database)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(redb::Error::Io(error))) if !is_invalid_data(&error) => {
                Err(self.error(&error).with_source(error))
            }
            Ok(Err(error)) => Err(unreadable(&self.path, error)),
            Err(Panicked) => {
                self.is_damaged.store(true, Ordering::SeqCst);
                Err(self.error(DAMAGED))
            }
        }
    }

    /// An error about this file.
    pub(super) fn error(&self, reason: impl fmt::Display) -> LmError {
        cache_error(&self.path, reason)
    }

    fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::SeqCst)
    }
}

impl<D> Drop for File<D> {
    fn drop(&mut self) {
        let database = self.database.take();
        // Closing writes to the file, so it may panic as well.
        let _ = catch_panic(|| drop(database));
    }
}

struct Panicked;

fn catch_panic<T>(access: impl FnOnce() -> T) -> Result<T, Panicked> {
    panic::catch_unwind(AssertUnwindSafe(access)).map_err(|_| Panicked)
}

/// Opens a file, and converts a panic or an error.
fn opened<T>(
    path: &Path,
    open: impl FnOnce(&Path) -> Result<T, DatabaseError>,
) -> Result<T, LmError> {
    match catch_panic(|| open(path)) {
        Ok(Ok(opened)) => Ok(opened),
        Ok(Err(error)) => Err(open_error(path, error)),
        Err(Panicked) => Err(cache_error(path, DAMAGED)),
    }
}

/// Opens or creates the file.
fn open(path: &Path) -> Result<Database, DatabaseError> {
    let file = open_private(path).map_err(StorageError::from)?;
    let backend = FileBackend::new(file)?;
    Database::builder().set_cache_size(32 << 20).create_with_backend(backend)
}

/// Opens a file to read it. If it is in use, waits up to half a second: the last clone of a cache may be about to close it on
/// another thread.
fn unless_in_use<D>(open: impl Fn() -> Result<D, DatabaseError>) -> Result<D, DatabaseError> {
    let mut result = open();
    for _ in 0..50 {
        if !matches!(result, Err(DatabaseError::DatabaseAlreadyOpen)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        result = open();
    }
    result
}

/// Opens or creates the file, readable by this user only, also if an earlier version created it with
/// another mode: it contains prompts, which quote rows.
fn open_private(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            // It fails for a file of another user, whose mode is not ours to change.
            let _ = file.set_permissions(fs::Permissions::from_mode(mode & !0o077));
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// An error about the file or directory at `path`.
pub(super) fn cache_error(path: &Path, reason: impl fmt::Display) -> LmError {
    let (path, reason) = (path.display().to_string(), reason.to_string());
    LmErrorKind::Cache { path, reason }.into()
}

/// The file or directory at `path` cannot be created.
pub(super) fn not_creatable(path: &Path, error: io::Error) -> LmError {
    cache_error(path, format!("{error}; {OTHER_DIRECTORY}")).with_source(error)
}

fn open_error(path: &Path, error: DatabaseError) -> LmError {
    match error {
        DatabaseError::DatabaseAlreadyOpen => {
            let reason = format!(
                "another process is using it; wait until that process ends, {OTHER_DIRECTORY}"
            );
            cache_error(path, reason).with_source(error)
        }
        DatabaseError::Storage(StorageError::Io(error)) if !is_invalid_data(&error) => {
            not_creatable(path, error)
        }
        other => unreadable(path, other),
    }
}

fn unreadable(path: &Path, error: impl Error + Send + Sync + 'static) -> LmError {
    let reason =
        format!("the file cannot be read ({error}); move the file away to start a new cache");
    cache_error(path, reason).with_source(error)
}

fn is_invalid_data(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
