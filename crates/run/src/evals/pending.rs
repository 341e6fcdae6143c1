//! A new baseline that is not yet accepted, below the target folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use super::eval::Source;
use crate::evaluate::files::OutputFile;
use crate::named_files::{read_regular, require_regular};

/// The name of the file in the folder of an eval.
pub(super) const FILE: &str = "pending.json";

/// A new baseline that has not been accepted yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Pending {
    /// The name of the eval.
    pub eval: String,
    /// The name of the package that contains the eval.
    pub package: String,
    /// The path of the baseline file to replace.
    pub baseline: PathBuf,
    /// The hash of the baseline that the run was compared with.
    replaces: Option<String>,
    /// The new content of the baseline file.
    pub content: String,
}

impl Pending {
    pub(super) fn new(
        source: &Source,
        baseline: &Path,
        old: Option<&Baseline>,
        content: String,
    ) -> Self {
        Self {
            eval: source.name.to_owned(),
            package: source.package.to_owned(),
            baseline: baseline.to_owned(),
            replaces: old.map(|old| old.hash.clone()),
            content,
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), String> {
        let content = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        write(&folder.join(FILE), &content)
    }

    /// Removes the pending baseline of an eval, if there is one.
    ///
    /// # Errors
    /// Returns an error message if the file cannot be removed.
    pub fn remove(folder: &Path) -> Result<(), String> {
        let path = folder.join(FILE);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("cannot remove `{}`: {error}", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Returns all pending baselines, sorted by package and name.
    ///
    /// `folder` contains the folders of all evals. Each baseline comes with its eval's folder.
    ///
    /// # Errors
    /// Returns an error message if a file cannot be read.
    pub fn all(folder: &Path) -> Result<Vec<(PathBuf, Self)>, String> {
        let mut pending = Vec::new();
        let folders = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            folders.sort();
            folders
        };
        for eval in folders(folder).iter().flat_map(|package| folders(package)) {
            let path = eval.join(FILE);
            let text = match read_regular(&path) {
                Ok(text) => text,
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    continue;
                }
                Err(error) => return Err(format!("cannot read `{}`: {error}", path.display())),
            };
            let read = serde_json::from_str(&text);
            let read = read.map_err(|error| {
                let path = path.display();
                format!("cannot read `{path}`: {error}; remove it, and run the eval again")
            })?;
            pending.push((eval, read));
        }
        Ok(pending)
    }

    /// Returns the existing baseline that would be replaced, if there is one.
    ///
    /// # Errors
    /// Returns an error message if the existing baseline has changed since the run or cannot be read.
    pub fn replaced(&self) -> Result<Option<Baseline>, String> {
        let old = Baseline::read(&self.baseline, &self.eval)?;
        if old.as_ref().map(|old| &old.hash) == self.replaces.as_ref() {
            return Ok(old);
        }
        let (baseline, eval) = (self.baseline.display(), &self.eval);
        Err(format!(
            "the baseline `{baseline}` changed after `{eval}` was run; run the eval again"
        ))
    }

    /// Returns the new baseline.
    ///
    /// # Errors
    /// Returns an error message if the new baseline is damaged.
    pub fn accepted(&self) -> Result<Baseline, String> {
        let eval = &self.eval;
        Baseline::parse(&self.baseline, &self.content)
            .map_err(|reason| format!("the pending baseline of `{eval}` is damaged: {reason}"))
    }

    /// Replaces the baseline file with the new content.
    ///
    /// # Errors
    /// Returns an error message if the file cannot be written.
    pub fn accept(&self) -> Result<(), String> {
        check_writable(&self.baseline)?;
        write(&self.baseline, self.content.as_bytes())
    }
}

/// Checks that a file can be written, and creates its folder.
pub(super) fn check_writable(path: &Path) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let created = folder.and_then(|()| create(path)).map(drop);
    created.map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}

fn create(path: &Path) -> io::Result<OutputFile> {
    require_regular(path).and_then(|()| OutputFile::create(path))
}

/// Writes a regular file that appears once it is complete.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    let written = create(path).and_then(|file| file.write(|out| out.write_all(content)));
    written.map_err(|error| format!("cannot write `{}`: {error}", path.display()))
}
