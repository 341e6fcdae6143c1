//! The file itself, and what can be wrong with it.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redb::{Database, DatabaseError, StorageError};

use super::super::LmError;

/// An open file. redb reads a page of a file that it has opened without a doubt about it, and panics where the disk
/// has changed it; such a panic becomes an error, and the file is not touched again.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// `None` only while it is dropped.
    database: Option<Database>,
    damaged: AtomicBool,
}

const DAMAGED: &str = "it is damaged; move the file away to begin anew";

impl File {
    pub(super) fn open(path: &Path) -> Result<Self, LmError> {
        match guarded(|| open(path)) {
            Ok(Ok(database)) => Ok(Self {
                path: path.to_owned(),
                database: Some(database),
                damaged: AtomicBool::new(false),
            }),
            Ok(Err(error)) => Err(not_opened(path, &error)),
            Err(Panicked) => Err(failed(path, &DAMAGED)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads or writes.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, LmError> {
        let Some(database) = self.database.as_ref().filter(|_| !self.damaged()) else {
            return Err(self.failed(&DAMAGED));
        };
        match guarded(|| work(database)) {
            Ok(Err(redb::Error::Io(error))) if !is_about_data(&error) => Err(self.failed(&error)),
            Ok(result) => result.map_err(|error| self.failed(&unreadable(&error))),
            Err(Panicked) => {
                self.damaged.store(true, Ordering::SeqCst);
                Err(self.failed(&DAMAGED))
            }
        }
    }

    pub(super) fn failed(&self, error: &dyn fmt::Display) -> LmError {
        failed(&self.path, error)
    }

    fn damaged(&self) -> bool {
        self.damaged.load(Ordering::SeqCst)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let database = self.database.take();
        // Closing writes, too.
        let _ = guarded(|| drop(database));
    }
}

struct Panicked;

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// Whoever has the file may be about to close it (the last clone of a cache, dropped on another thread), so it
/// is waited for a moment.
fn open(path: &Path) -> Result<Database, DatabaseError> {
    let open = || Database::builder().set_cache_size(32 << 20).create(path);
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

pub(super) fn failed(path: &Path, error: &dyn fmt::Display) -> LmError {
    let (path, reason) = (path.display().to_string(), error.to_string());
    LmError::Cache { path, reason, cost_msats: Some(0) }
}

fn not_opened(path: &Path, error: &DatabaseError) -> LmError {
    let reason = match error {
        DatabaseError::DatabaseAlreadyOpen => {
            "another process is using it; wait for its end, set DSRS_CACHE to another folder, or do without a cache".to_owned()
        }
        DatabaseError::Storage(StorageError::Io(error)) if !is_about_data(error) => {
            no_place(error)
        }
        other => unreadable(other),
    };
    failed(path, &reason)
}

/// Where it should stand, nothing can.
pub(super) fn no_place(error: &std::io::Error) -> String {
    format!("{error}; set DSRS_CACHE to another folder, or do without a cache")
}

fn unreadable(error: &dyn fmt::Display) -> String {
    format!("it can't be read ({error}); move the file away to begin anew")
}

fn is_about_data(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
