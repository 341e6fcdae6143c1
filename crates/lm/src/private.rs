//! Locks that survive a panic, because no code leaves a value half changed, and folders that only their user can read.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;
use std::sync::{LockResult, Mutex, MutexGuard, PoisonError};

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    ignore_poison(mutex.lock())
}

pub(super) fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Creates a directory that is accessible only to this user.
///
/// Missing parent directories are created too. If the directory exists, its mode does not change.
#[doc(hidden)]
pub fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
