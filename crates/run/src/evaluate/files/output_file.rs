//! A file that appears under its name when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::temporary_file::{Access, TemporaryFile, in_temporary_folder};

/// A file to be written. Until it is complete, its content is in a hidden file beside it, which then replaces it: a
/// process that is killed, or a full disk, leaves the old file as it was. Of a symbolic link, the file that it leads to is
/// replaced. A pipe or device is written directly.
pub struct OutputFile {
    place: Place,
}

enum Place {
    /// A file in the same folder as the path, symbolic links resolved, which is renamed to it.
    Renamed { path: PathBuf, file: TemporaryFile },
    /// A pipe or device, which must not be replaced by a file.
    Direct { file: File },
}

impl OutputFile {
    /// Creates the hidden file, so that a target that cannot be written is found before there is anything to write. Removes
    /// the hidden files of killed processes.
    #[doc(hidden)]
    pub fn create(path: &Path) -> io::Result<Self> {
        #[cfg(all(unix, feature = "ctrl-c"))]
        super::stale_files::remove(&real_path(path));
        let existing = fs::metadata(path).ok();
        if let Some(kind) = &existing {
            if kind.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
            }
            // Opening the file checks that it is writable; nothing is changed yet.
            let file = File::options().append(true).open(path)?;
            if !kind.is_file() {
                return Ok(Self { place: Place::Direct { file } });
            }
        }
        let path = real_path(path);
        let file = TemporaryFile::beside(&path, Access::Default)?;
        if let Some(existing) = existing {
            // Set before anything is written, since other users may not be allowed to read it.
            file.file().set_permissions(existing.permissions())?;
        }
        Ok(Self { place: Place::Renamed { path, file } })
    }

    /// Writes the file, and gives it its name.
    #[doc(hidden)]
    pub fn write(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = match &self.place {
            Place::Renamed { file, .. } => file.file(),
            Place::Direct { file } => file,
        };
        let mut out = BufWriter::with_capacity(1 << 16, file.try_clone()?);
        write(&mut out)?;
        out.flush()?;
        match &self.place {
            Place::Renamed { path, file } => publish(file, path),
            Place::Direct { .. } => Ok(()),
        }
    }

    /// Gives another file in the same folder the name. Returns whether it did: a pipe or device is not replaced.
    pub(crate) fn replace(&self, other: &TemporaryFile) -> io::Result<bool> {
        let Place::Renamed { path, file } = &self.place else { return Ok(false) };
        other.file.set_permissions(file.file.metadata()?.permissions())?;
        publish(other, path)?;
        Ok(true)
    }

    /// Gives the file the permissions of another one, which is not written yet.
    pub(crate) fn set_permissions_of(&self, other: &Self) -> io::Result<()> {
        match (&self.place, &other.place) {
            (Place::Renamed { file, .. }, Place::Renamed { file: other, .. }) => {
                file.file().set_permissions(other.file().metadata()?.permissions())
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the file replaces another one. A pipe or device is written directly.
    pub(crate) fn is_renamed(&self) -> bool {
        matches!(self.place, Place::Renamed { .. })
    }

    /// Returns the file beside which temporary files are created.
    pub(crate) fn beside(&self) -> PathBuf {
        match &self.place {
            Place::Renamed { path, .. } => path.clone(),
            Place::Direct { .. } => in_temporary_folder(),
        }
    }

    /// Replaces the hidden file, for tests that let it fail.
    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn replace_file(&mut self, other: File) {
        if let Place::Renamed { file, .. } = &mut self.place {
            file.file = other;
        }
    }
}

fn publish(file: &TemporaryFile, path: &Path) -> io::Result<()> {
    // Synced before the rename, so that a crash leaves either the old file or the complete new one.
    file.file.sync_all()?;
    fs::rename(&file.path, path)
}

/// The largest number of symbolic links to follow; more are treated as a cycle, as by the kernel.
const MAX_LINKS: usize = 40;

/// Returns the canonical path, with symbolic links followed, also if the file does not exist yet.
pub fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
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
