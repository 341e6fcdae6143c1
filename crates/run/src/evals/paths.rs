//! The folders and files of an eval.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use super::eval::Source;
use crate::evaluate::files::{OutputFile, real_path};
use crate::named_files::{read_regular, require_regular};

/// The folder for evals, relative to the target folder.
#[doc(hidden)]
pub const FOLDER: &str = "dsrs-metrics/evals";

impl Source {
    /// Returns the folder of the package. If the test runs on a different machine than its compiler, the variable that
    /// cargo and nextest set leads to it.
    pub(super) fn package_folder(&self) -> PathBuf {
        match env::var_os("CARGO_MANIFEST_DIR") {
            // A test binary of another package that runs this eval does not exist.
            Some(folder) if env::var_os("CARGO_PKG_NAME").is_some_and(|it| it == self.package) => {
                folder.into()
            }
            _ => self.folder.into(),
        }
    }

    /// Returns the folder in which the eval writes, below the target folder.
    pub(super) fn eval_folder(&self, target: &Path) -> PathBuf {
        target.join(FOLDER).join(self.package).join(self.name)
    }

    /// Returns the target folder: the one with cargo's tag above the test binary, or `target` in the package if there
    /// is none.
    pub(super) fn target_folder(&self) -> PathBuf {
        let of_binary = || {
            let binary = env::current_exe().ok()?;
            let mut folders = binary.ancestors().skip(1);
            folders
                .find(|folder| folder.join("CACHEDIR.TAG").is_file())
                .map(Path::to_owned)
        };
        of_binary().unwrap_or_else(|| self.package_folder().join("target"))
    }

    /// Returns an existing path to the attribute's file.
    pub(super) fn source_file(&self) -> PathBuf {
        // rustc names files relative to the workspace, which is the package or a folder above it.
        let package = self.package_folder();
        let mut files = package.ancestors().map(|folder| folder.join(self.file));
        files
            .find(|file| file.is_file())
            .unwrap_or_else(|| self.file.into())
    }

    /// Returns the path of a file given relative to the package, or an error if it is outside.
    pub(super) fn in_package(&self, key: &str, path: &str) -> Result<PathBuf, String> {
        let package = self.package_folder();
        let file = package.join(path);
        // The file may be missing, or be a symbolic link to a missing file.
        let real = real_path(&file);
        let existing = real
            .ancestors()
            .find_map(|part| Some((part, part.canonicalize().ok()?)));
        let is_outside =
            existing
                .zip(package.canonicalize().ok())
                .is_some_and(|((part, existing), package)| {
                    let mut missing = real
                        .strip_prefix(part)
                        .into_iter()
                        .flat_map(Path::components);
                    !existing.starts_with(package) || missing.any(|it| it == Component::ParentDir)
                });
        match is_outside {
            true => Err(format!(
                "`{key} = {path:?}` is outside the package `{}`; move the file into the package, for example into `evals`",
                package.display()
            )),
            false => Ok(file),
        }
    }
}

/// Changes the content of a file under a lock that other threads and processes wait for; `None` if it is missing. The
/// new content replaces the old atomically.
pub(super) fn change_file<T>(
    path: &Path,
    change: impl FnOnce(&mut Option<String>) -> io::Result<T>,
) -> io::Result<T> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    require_regular(path)?;
    let file = loop {
        match OutputFile::create(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            created => break created?,
        }
    };
    let mut text = match read_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read?),
    };
    let old = text.clone();
    let result = change(&mut text)?;
    if text != old {
        file.write(|out| out.write_all(text.unwrap_or_default().as_bytes()))?;
    }
    Ok(result)
}
