//! `--from`: files of other programs, which are converted to result files in a temporary folder. Messages and outputs show the names
//! of the user's files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, ValueEnum};
use dsrs_metrics_formats::{Epochs, ForeignFormat, import_file};

use super::error::CliError;
use super::stdio::print_error;
use crate::data::NamedFile;

/// The option of the commands that read result files.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FromArgument {
    /// Read files of another program: logs of inspect_ai (.eval or .json; feature `inspect`), the
    /// samples of lm-eval (samples_TASK_DATE.jsonl), spans of OpenTelemetry (JSON), or trajectories
    /// of ATIF
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<FromFormat>,
}

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FromFormat {
    /// A log of inspect_ai
    Inspect,
    /// The samples of a task of lm-eval
    LmEval,
    /// Spans of OpenTelemetry in JSON
    Otlp,
    /// Trajectories of ATIF
    Atif,
}

impl FromFormat {
    const fn format(self) -> ForeignFormat {
        match self {
            Self::Inspect => ForeignFormat::Inspect,
            Self::LmEval => ForeignFormat::LmEval,
            Self::Otlp => ForeignFormat::Otlp,
            Self::Atif => ForeignFormat::Atif,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::LmEval => "lm-eval",
            Self::Otlp => "otlp",
            Self::Atif => "atif",
        }
    }
}

impl FromArgument {
    /// Returns an error if a converted file, which has this number of metrics, has no scores.
    pub(crate) fn check_has_scores(self, file: &Path, metrics: usize) -> Result<(), CliError> {
        match self.from {
            Some(format) if metrics == 0 => {
                let (file, format) = (file.to_owned(), format.name());
                Err(CliError::FromWithoutScores { file, format })
            }
            _ => Ok(()),
        }
    }
}

/// The files of a command: as they are, or converted. The converted ones are removed with this value.
pub(crate) struct InputFiles {
    names: Vec<PathBuf>,
    converted: Option<(Folder, Vec<PathBuf>)>,
}

impl InputFiles {
    /// Converts the files if they have another format, and prints notes on it unless it is quiet.
    ///
    /// # Errors
    /// A file cannot be converted, or is a stream: the parts of a row may be in any order.
    pub(crate) fn open(
        argument: FromArgument,
        epochs: Epochs,
        files: &[PathBuf],
        is_quiet: bool,
    ) -> Result<Self, CliError> {
        let names = files.to_vec();
        let Some(format) = argument.from else { return Ok(Self { names, converted: None }) };
        let folder = Folder::create().map_err(CliError::TemporaryFolder)?;
        let mut converted = Vec::with_capacity(files.len());
        for (number, file) in files.iter().enumerate() {
            if file.as_os_str() == "-" {
                return Err(CliError::FromStandardInput);
            }
            let out = folder.0.join(format!("{number}.jsonl"));
            let notes = import_file(format.format(), epochs, file, &out)?;
            for note in notes.iter().filter(|_| !is_quiet) {
                print_error(format_args!("warning: {}: {note}", file.display()));
            }
            converted.push(out);
        }
        Ok(Self { names, converted: Some((folder, converted)) })
    }

    /// Returns the files with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = NamedFile<'_>> {
        let paths = self.converted.as_ref().map_or(&self.names, |(_, converted)| converted);
        self.names.iter().zip(paths).map(|(name, path)| NamedFile { path, name })
    }

    /// Returns the converted files; none if the files are read as they are.
    pub(crate) fn converted(&self) -> Vec<PathBuf> {
        self.converted.as_ref().map(|(_, converted)| converted.clone()).unwrap_or_default()
    }
}

/// A temporary folder that only this user can read.
struct Folder(PathBuf);

impl Folder {
    fn create() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("dsrs-metrics-from-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match create_private(&path) {
                Ok(()) => return Ok(Self(path)),
                // A process with this number was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let reason = format!("{}: {error}", path.display());
                    return Err(io::Error::new(error.kind(), reason));
                }
            }
        }
    }
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure to remove it cannot be handled.
        let _ = fs::remove_dir_all(&self.0);
    }
}
