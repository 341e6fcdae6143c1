//! A file that appears under its name once it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::temporary_file::{TemporaryFile, in_temporary_folder};
use crate::named_files::WriteLock;

/// A file that is replaced atomically. The content is first written to a hidden file in the same folder, which then
/// replaces the target. A killed process or a full disk therefore leaves the old file intact. Until the target is
/// replaced, no other run can write the file. If the path is a symbolic link, its target is replaced. Pipes and devices
/// are written directly.
pub struct OutputFile {
    /// The hidden file; or a pipe or device, which must not be replaced by a file.
    file: TemporaryFile,
    /// The name that the file gets, with symbolic links resolved; `None` for a pipe or device.
    name: Option<(PathBuf, WriteLock)>,
}

impl OutputFile {
    /// Creates the hidden file, so an unwritable target is noticed before there is anything to write. Also removes
    /// hidden files left behind by killed processes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if another process or thread is writing it.
    #[doc(hidden)]
    pub fn create(path: &Path) -> io::Result<Self> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        super::stale_files::remove(&real_path(path));
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
                let (file, name) = (TemporaryFile::kept(file), None);
                return Ok(Self { file, name });
            }
        }
        let path = real_path(path);
        let lock = WriteLock::of(&path)?;
        let file = TemporaryFile::beside(&path, false)?;
        if let Some(existing) = existing {
            // Set before anything is written, because other users may not be allowed to read it.
            file.file.set_permissions(existing.permissions())?;
        }
        let name = Some((path, lock));
        Ok(Self { file, name })
    }

    /// Writes the content and replaces the target.
    #[doc(hidden)]
    pub fn write(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        self.fill(write)?;
        self.publish()
    }

    /// Writes the content without touching the old file. A pipe or device is written directly.
    pub(crate) fn fill<T>(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        let file = &self.file.file;
        let mut out = BufWriter::with_capacity(1 << 16, file.try_clone()?);
        let written = write(&mut out)?;
        out.flush()?;
        // Synced before the rename, so a crash leaves either the old file or the complete new one.
        if self.is_renamed() {
            file.sync_all()?;
        }
        Ok(written)
    }

    /// Gives the filled file its name.
    pub(crate) fn publish(&self) -> io::Result<()> {
        let name = self.name.as_ref();
        name.map_or(Ok(()), |(name, _)| fs::rename(&self.file.path, name))
    }

    /// Gives the filled file a temporary name in the same folder until it is published.
    pub(crate) fn stage(&mut self, name: PathBuf) -> io::Result<()> {
        self.file.rename(name)
    }

    /// Keeps the staged file when it could not be published.
    pub(crate) fn keep_staged(&mut self) {
        self.file.keep_name();
    }

    /// Gives the file the permissions of another one that is not yet written.
    pub(crate) fn set_permissions_of(&self, other: &Self) -> io::Result<()> {
        let permissions = other.file.file.metadata()?.permissions();
        self.file.file.set_permissions(permissions)
    }

    /// Returns `true` if the file replaces another one. Pipes and devices are written directly.
    pub(crate) fn is_renamed(&self) -> bool {
        self.name.is_some()
    }

    /// Returns the file next to which temporary files are created.
    pub(crate) fn beside(&self) -> PathBuf {
        let name = self.name.as_ref().map(|(name, _)| name.clone());
        name.unwrap_or_else(in_temporary_folder)
    }

    /// Replaces the hidden file, for tests that make it fail.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn replace_file(&mut self, other: File) {
        self.file.file = other;
    }
}

/// The maximum number of symbolic links to follow; more count as a cycle, as in the kernel.
const MAX_LINKS: usize = 40;

/// Returns the canonical path, with symbolic links resolved, even if the file does not exist yet.
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
