//! `--from`: converts files from other programs to result files in a temporary folder. Messages and outputs show the
//! names of the user's files. Without metrics, `score --from FORMAT FILE` prints the scores in the files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use dsrs_metrics_formats::{Epochs, ForeignFormat, import_files, recognize, source_files};
use tempfile::TempDir;

use super::args::ScoreArguments;
use super::options::{one_of, set};
use super::output::{CliError, Result, err, print, print_error};
use super::own_scores::OwnScoreArguments;
use crate::data::NamedFile;
use crate::results::{Comparison, ComparisonBuilder};

/// An option for commands that read result files.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FromArgument {
    /// Read files from another program: logs from inspect_ai (.eval or .json, or a folder; feature `inspect`), lm-eval
    /// samples (samples_TASK_DATE.jsonl, or a folder), OpenTelemetry spans (JSON; protobuf: feature `otel`), ATIF
    /// trajectories, results from promptfoo, deepeval, ragas, BFCL, HELM and SWE-bench, output from OpenAI's batch API,
    /// TREC files (QRELS RUN), or speech transcripts (REFERENCE HYPOTHESIS)
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = one_of(&ForeignFormat::ALL),
        conflicts_with = "format"
    )]
    pub(crate) from: Option<ForeignFormat>,
}

impl FromArgument {
    /// Returns an error if a converted file with this many metrics has no scores.
    pub(crate) fn check_has_scores(self, file: &Path, metrics: usize) -> Result<()> {
        match self.from {
            Some(_) if metrics == 0 => Err(err!(
                "{}: no row has a score; score the rows first: `score FILE --from FORMAT -m NAME --out RUN.jsonl`",
                file.display()
            )),
            _ => Ok(()),
        }
    }

    /// If one of these files comes from another program, turns an error about the file into advice on how to read it.
    pub(crate) fn advise<'f>(
        self,
        error: CliError,
        files: impl IntoIterator<Item = &'f PathBuf>,
    ) -> CliError {
        let text = error.to_string();
        let is_about = |file: &&PathBuf| text.starts_with(&file.display().to_string());
        let mut files = files.into_iter().filter(is_about);
        match files.next().and_then(|file| Some((file, recognize(file)?))) {
            Some((file, found)) if self.from.is_none() => {
                err!("{}: expected rows, found {found}", file.display())
            }
            _ => error,
        }
    }
}

/// A command's input file, converted if necessary. Dropping this value removes the converted file.
pub(crate) struct InputFile<'a> {
    name: &'a Path,
    path: Cow<'a, Path>,
    /// The files that were converted into this one, if any.
    sources: Vec<PathBuf>,
    /// The folder that contains a converted file.
    _folder: Option<TempDir>,
}

impl<'a> InputFile<'a> {
    /// Opens a command's files: each one separately, or all together if the format spreads its rows over several files.
    pub(crate) fn open_all(
        argument: FromArgument,
        epochs: Epochs,
        names: &'a [PathBuf],
        is_quiet: bool,
    ) -> Result<Vec<Self>> {
        let size = match argument.from {
            Some(format) if format.is_joined() => names.len(),
            _ => 1,
        };
        let inputs = names.chunks(size.max(1));
        inputs
            .map(|names| Self::convert(argument, epochs, names, is_quiet))
            .collect()
    }

    /// Converts files from another program to a single file with the name of the last one, and prints notes on them
    /// unless `--quiet` is set.
    ///
    /// # Errors
    /// Returns an error if a file cannot be converted, or if it is a stream, because the parts of a row can be in any
    /// order.
    fn convert(
        argument: FromArgument,
        epochs: Epochs,
        names: &'a [PathBuf],
        is_quiet: bool,
    ) -> Result<Self> {
        let name = names.last().map_or(Path::new("-"), PathBuf::as_path);
        let Some(format) = argument.from else {
            return Ok(Self {
                name,
                path: name.into(),
                sources: Vec::new(),
                _folder: None,
            });
        };
        if names.iter().any(|name| name.as_os_str() == "-") {
            return Err(err!(
                "--from: expected a file, found standard input, which cannot be reordered; save it to a file"
            ));
        }
        let files: Vec<&Path> = names.iter().map(PathBuf::as_path).collect();
        Self::converted("--from", name, |path| {
            let notes = import_files(format, epochs, &files, path)?;
            for note in notes.iter().filter(|_| !is_quiet) {
                print_error(format_args!("warning: {}: {note}", name.display()));
            }
            Ok(source_files(format, &files)?)
        })
    }

    /// Creates a file in a temporary folder. `convert` writes it, and returns the files that were converted.
    fn converted(
        option: &str,
        name: &'a Path,
        convert: impl FnOnce(&Path) -> Result<Vec<PathBuf>>,
    ) -> Result<Self> {
        let folder = private_folder(option)?;
        let path = folder.path().join("rows.jsonl");
        Ok(Self {
            sources: convert(&path)?,
            name,
            path: path.into(),
            _folder: Some(folder),
        })
    }

    /// Opens a file with scores: the scores of `--score`, or those in a result file or another program's file. Rows
    /// need ids of their own if they are compared by id.
    ///
    /// # Errors
    /// Returns an error if the file cannot be converted, or if options exclude each other.
    pub(crate) fn open_scores(
        own: &OwnScoreArguments,
        argument: FromArgument,
        name: &'a PathBuf,
        needs_ids: bool,
    ) -> Result<Self> {
        if !own.is_set()? {
            let names = std::slice::from_ref(name);
            return Self::convert(argument, Epochs::Repeats, names, false);
        }
        if argument.from.is_some() {
            return Err(err!(
                "--score reads rows as they are, and --from reads another program's scores; remove one of them"
            ));
        }
        Self::converted("--score", name, |path| {
            own.convert(name, path, needs_ids)?;
            Ok(Vec::new())
        })
    }

    /// Replaces the converted file's name in an error with the name of the user's file.
    pub(crate) fn with_name(&self, error: &CliError) -> CliError {
        let [path, name] = [&*self.path, self.name].map(|file| file.display().to_string());
        CliError::new(error.to_string().replace(&path, &name))
    }

    /// Returns the file to read, with the name of the user's file.
    pub(crate) fn named(&self) -> NamedFile<'_> {
        NamedFile {
            sources: &self.sources,
            path: &self.path,
            name: self.name,
        }
    }
}

/// Creates a temporary folder that only this user can read.
pub(super) fn private_folder(option: &str) -> Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    folder.prefix("dsrs-metrics-from-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        folder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    let folder = folder.tempdir();
    folder.map_err(|error| err!("{option}: cannot create the folder for the rows: {error}"))
}

/// Prints the scores in each file, with denominators and intervals.
pub(super) fn print_scores(args: &ScoreArguments) -> Result<ExitCode> {
    let files = InputFile::open_all(args.from, Epochs::Repeats, &args.data, args.options.quiet)?;
    for (file, name) in files.iter().zip(&args.data) {
        let comparison = Comparison::builder();
        let comparison = set(comparison, args.group.as_ref(), ComparisonBuilder::group);
        let run = comparison.read_named(file.named())?;
        args.from.check_has_scores(name, run.metrics().len())?;
        if files.len() > 1 {
            print(&format!("{}\n", name.display()))?;
        }
        let width = run.metrics().map(|name| name.chars().count()).max();
        for metric in run.metrics() {
            let width = width.unwrap_or(0);
            print(&format!("{metric:width$}  {}\n", run.figures(metric)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
