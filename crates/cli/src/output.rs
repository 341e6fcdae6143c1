//! An output of a command besides its result: a file, or standard output instead of the result's text.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::error::{CliError, Result, err};
use super::files::is_standard;
use crate::evaluate::report::OutputFile;

/// The output of an option such as `--markdown FILE`.
pub(super) struct Output {
    option: &'static str,
    path: PathBuf,
    /// `None` for standard output.
    file: Option<OutputFile>,
    /// Whether there is a file of this name, which an earlier run wrote.
    replaces_file: bool,
}

impl Output {
    /// Checks that the file can be written. Nothing appears under its name yet.
    pub(super) fn create(option: &'static str, path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let file = (!is_standard(&path))
            .then(|| OutputFile::create(&path))
            .transpose();
        let file = file.map_err(|reason| unwritable(option, &path, &reason))?;
        Ok(Self {
            option,
            replaces_file: path.is_file(),
            path,
            file,
        })
    }

    /// Returns whether the output is printed instead of the result's text.
    pub(super) fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// Writes the file, if it is one.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        file.write(write)
            .map_err(|reason| unwritable(self.option, &self.path, &reason))
    }

    /// Returns a note for a run that ends without a result, if the file of an earlier run remains.
    pub(super) fn unchanged(&self) -> Option<String> {
        let (option, path) = (self.option, self.path.display());
        self.replaces_file
            .then(|| format!("{option} {path}: not written; it is the file of an earlier run"))
    }
}

pub(super) fn unwritable(option: &str, file: &Path, reason: &io::Error) -> CliError {
    err!("{option} {}: cannot be written: {reason}", file.display())
}
