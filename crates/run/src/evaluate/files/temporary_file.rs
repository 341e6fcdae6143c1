//! Temporary files: hidden files in the folder of an output file, removed once they are unused.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A hidden file in the same folder as another, removed on drop.
pub(crate) struct TemporaryFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    is_kept: bool,
}

fn create_new(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

/// Returns the target for temporary files that belong to no output file: a name in the system's temporary folder.
pub(crate) fn in_temporary_folder() -> PathBuf {
    std::env::temp_dir().join("dsrs-metrics")
}

impl TemporaryFile {
    /// Creates the file under an unused name. Process ids repeat in containers, so a killed process may have left a
    /// file of the same name. Only the owner can read a private file, and everyone else whom the process's umask allows
    /// can read any other.
    pub(crate) fn beside(target: &Path, is_private: bool) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let mut name = OsString::from(".");
            name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
            name.push(format!(".{}-{number}.tmp", std::process::id()));
            let path = target.with_file_name(name);
            match create_new(&path, is_private) {
                Ok(file) => {
                    #[cfg(all(unix, feature = "ctrl-c"))]
                    super::stale_files::lock(&file);
                    let temporary = Self {
                        file,
                        path,
                        is_kept: false,
                    };
                    // Another run may have removed it before it was locked.
                    if fs::exists(&temporary.path)? {
                        return Ok(temporary);
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

    /// Returns a file that is not removed.
    pub(crate) fn kept(file: File) -> Self {
        Self {
            file,
            path: PathBuf::new(),
            is_kept: true,
        }
    }

    /// Gives the file another name in the same folder.
    pub(crate) fn rename(&mut self, name: PathBuf) -> io::Result<()> {
        fs::rename(&self.path, &name)?;
        self.path = name;
        Ok(())
    }

    /// Keeps the file under its name.
    pub(crate) fn keep_name(&mut self) {
        self.is_kept = true;
    }

    /// Keeps the file under a name that later runs do not remove, and returns its path.
    pub(crate) fn keep(&mut self) -> &Path {
        self.is_kept = true;
        let name = self.path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
        if let Some(name) = name {
            let kept = self.path.with_file_name(format!("{name}.rows.jsonl"));
            let is_free = fs::exists(&kept).is_ok_and(|exists| !exists);
            if is_free && fs::rename(&self.path, &kept).is_ok() {
                self.path = kept;
            }
        }
        &self.path
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // A renamed file is already gone from this path, and a failure to remove another cannot be handled.
            let _ = fs::remove_file(&self.path);
        }
    }
}
