//! `--from`: converts files of other programs to result files in a temporary folder. Messages and outputs show the
//! names of the user's files.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use clap::Args;
use dsrs_metrics_formats::{Epochs, ForeignFormat, import_file};
use tempfile::TempDir;

use super::error::{CliError, Result, err};
use super::own_scores::OwnScoreArguments;
use super::stdio::print_error;
use super::value_parsers::one_of;
use crate::data::NamedFile;

/// The option of the commands that read result files.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FromArgument {
    /// Read files of another program: logs of inspect_ai (.eval or .json; feature `inspect`), the
    /// samples of lm-eval (samples_TASK_DATE.jsonl), spans of OpenTelemetry (JSON; protobuf: feature
    /// `otel`), or trajectories of ATIF
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ForeignFormat::ALL))]
    pub(crate) from: Option<ForeignFormat>,
}

impl FromArgument {
    /// Returns an error if a converted file, which has this many metrics, has no scores.
    pub(crate) fn check_has_scores(self, file: &Path, metrics: usize) -> Result<()> {
        match self.from {
            Some(format) if metrics == 0 => {
                let named = ForeignFormat::ALL
                    .iter()
                    .find(|(other, _, _)| *other == format);
                Err(err!(
                    "{}: no row has a score; score the rows first: `score FILE --from {} -m NAME --out RUN.jsonl`",
                    file.display(),
                    named.map_or("", |(_, name, _)| *name)
                ))
            }
            _ => Ok(()),
        }
    }
}

/// A file of a command, converted if needed. Dropping this removes the converted file.
pub(crate) struct InputFile<'a> {
    name: &'a Path,
    path: Cow<'a, Path>,
    /// The folder of a converted file.
    _folder: Option<TempDir>,
}

impl<'a> InputFile<'a> {
    /// Converts the file if it has another format, and prints notes on it unless `--quiet` is set.
    ///
    /// # Errors
    /// Returns an error if the file cannot be converted, or if it is a stream: the parts of a row may be in any order.
    pub(crate) fn open(
        argument: FromArgument,
        epochs: Epochs,
        name: &'a Path,
        is_quiet: bool,
    ) -> Result<Self> {
        let Some(format) = argument.from else {
            return Ok(Self {
                name,
                path: name.into(),
                _folder: None,
            });
        };
        if name.as_os_str() == "-" {
            return Err(err!(
                "--from: expected a file, found standard input, which cannot be read in another order; write it to a file"
            ));
        }
        let folder = private_folder().map_err(|error| {
            err!("--from: cannot create the folder of the converted rows: {error}")
        })?;
        let path = folder.path().join("rows.jsonl");
        let notes = import_file(format, epochs, name, &path)?;
        for note in notes.iter().filter(|_| !is_quiet) {
            print_error(format_args!("warning: {}: {note}", name.display()));
        }
        Ok(Self {
            name,
            path: path.into(),
            _folder: Some(folder),
        })
    }

    /// Converts a file with scores of another program, if `--score` names any; needs ids if rows are compared by them.
    ///
    /// # Errors
    /// Returns an error if the file cannot be converted.
    pub(crate) fn of_scores(
        own: &OwnScoreArguments,
        name: &'a Path,
        needs_ids: bool,
    ) -> Result<Self> {
        let folder = private_folder().map_err(|error| {
            err!("--score: cannot create the folder of the converted rows: {error}")
        })?;
        let path = folder.path().join("rows.jsonl");
        own.convert(name, &path, needs_ids)?;
        Ok(Self {
            name,
            path: path.into(),
            _folder: Some(folder),
        })
    }

    /// Returns an error about the converted file with the name of the user's file.
    pub(crate) fn with_name(&self, error: &CliError) -> CliError {
        let [path, name] = [&*self.path, self.name].map(|file| file.display().to_string());
        CliError::new(error.to_string().replace(&path, &name))
    }

    /// Returns the file to read, with the name of the user's file.
    pub(crate) fn named(&self) -> NamedFile<'_> {
        NamedFile {
            path: &self.path,
            name: self.name,
        }
    }
}

/// Creates a temporary folder that only this user can read.
fn private_folder() -> io::Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("dsrs-metrics-from-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        folder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    folder.tempdir()
}
