//! The files that a command reads and writes. A command must not write to a file that it also reads or that it writes
//! twice, because results can have cost money. Canonical paths are compared, because a symbolic link, `/dev/fd/3` or
//! standard input can be any file.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{LmArguments, Param};
use super::output::{CliError, Result, err};
use crate::contract::{Metric, MetricFile};
use crate::evaluate::report::{OutputFile, real_path};
use crate::results::manifest_path;

/// A command's files, each with the option or argument that names it.
#[derive(Default)]
pub(super) struct Files {
    read: Vec<Named>,
    written: Vec<Named>,
    /// Outputs that go to standard output, as the user named them.
    printed: Vec<String>,
}

struct Named {
    option: String,
    /// The path as the user wrote it.
    path: PathBuf,
    /// The canonical path if it is a regular file or does not exist yet. `None` for devices and pipes, which can be
    /// input and output at the same time.
    file: Option<PathBuf>,
}

/// Returns `true` if the path names standard input or, if it is an output, standard output.
pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns `true` if the path is a regular file.
pub(super) fn is_regular(file: &Path) -> bool {
    !is_standard(file) && file.is_file()
}

impl Files {
    /// Returns the files that every command uses: the store and the price file for language models.
    pub(super) fn new() -> Self {
        let of_models = of_models().into_iter();
        let of_models = of_models.map(|(option, path)| Named::new(option, path));
        Self {
            read: of_models.collect(),
            ..Self::default()
        }
    }

    /// Adds the store in the folder given by `--store`.
    pub(super) fn store(mut self, args: &LmArguments) -> Self {
        let files = args.store.iter().flat_map(|dir| store_files(dir));
        let files = files.map(|path| Named::new("--store", path));
        self.read.extend(files);
        self
    }

    /// Adds inputs; `-` is standard input.
    pub(super) fn read<'p>(
        mut self,
        option: &str,
        paths: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Self {
        let paths = paths.into_iter();
        self.read
            .extend(paths.map(|path| Named::new(option, path.clone())));
        self
    }

    /// Adds the files that parameters name, alone or in a JSON list, such as the graphs that a metric reads.
    pub(super) fn read_params(mut self, params: &[Param]) -> Self {
        for param in params {
            let list = serde_json::from_str::<Vec<PathBuf>>(&param.value);
            let mut paths = list.unwrap_or_else(|_| vec![PathBuf::from(&param.value)]);
            // If a list names a file twice, the file is read twice, which is not a mistake.
            paths.dedup();
            paths.retain(|path| is_regular(path));
            self = self.read(&format!("--param {}.{}", param.metric, param.key), &paths);
        }
        self
    }

    /// Adds an output; `-` is standard output.
    pub(super) fn write(mut self, option: &str, path: Option<&PathBuf>) -> Self {
        match path {
            Some(path) if is_standard(path) => self.printed.push(format!("{option} -")),
            Some(path) => self.written.push(Named::new(option, path.clone())),
            None => {}
        }
        self
    }

    /// Adds a result file's manifest.
    pub(super) fn write_manifest(mut self, option: &str, path: Option<&PathBuf>) -> Self {
        if let Some(path) = path.filter(|path| !is_standard(path)) {
            self.written.push(Named::new(option, manifest_path(path)));
        }
        self
    }

    /// Adds the `--json` output.
    pub(super) fn json_output(mut self, json: bool) -> Self {
        self.printed.extend(json.then(|| "--json".to_owned()));
        self
    }

    /// Checks that no option names the same file twice, because all of its rows would be duplicates.
    ///
    /// # Errors
    /// Returns an error that shows both names.
    pub(super) fn check_read_once(&self) -> Result<()> {
        for (number, second) in self.read.iter().enumerate() {
            let same = |first: &&Named| {
                first.file.is_some() && first.file == second.file && first.option == second.option
            };
            if let Some(first) = self.read[..number].iter().find(same) {
                let (first, second) = (first.path.display(), second.path.display());
                return Err(err!("{first} and {second} are the same file; name it once"));
            }
        }
        Ok(())
    }

    /// Checks that no output is an input or another output.
    ///
    /// # Errors
    /// Returns an error that shows both options and files.
    pub(super) fn check(&self) -> Result<()> {
        let inputs = self.read.iter();
        if inputs.filter(|input| is_standard(&input.path)).count() > 1 {
            return Err(err!(
                "standard input (`-`) is named twice, but can be read only once; name it once"
            ));
        }
        if let [first, second, ..] = &*self.printed {
            return Err(err!(
                "{first} and {second} both write to standard output; choose one of them"
            ));
        }
        let streams = [
            ("standard output", "/dev/stdout"),
            ("standard error", "/dev/stderr"),
        ];
        let streams = streams.map(|(name, stream)| Named {
            path: PathBuf::new(),
            ..Named::new(name, stream.into())
        });
        for (number, output) in self.written.iter().enumerate() {
            let others = self.written[..number]
                .iter()
                .filter(|it| it.option != output.option);
            output.check_other_than(self.read.iter().chain(others).chain(&streams))?;
        }
        streams
            .iter()
            .try_for_each(|stream| stream.check_other_than(&self.read))
    }

    /// Checks that no output is a file that a metric reads, or is in a folder that a metric reads, because a later run
    /// would then read the output.
    ///
    /// # Errors
    /// Returns an error that shows the output, the file or folder, and the parameter that names it.
    pub(super) fn check_metrics(&self, metrics: &[Arc<dyn Metric>]) -> Result<()> {
        let mut files = Vec::new();
        metrics.iter().for_each(|metric| metric.files(&mut files));
        for (parameter, path) in files.iter().filter_map(MetricFile::path) {
            let real = real_path(path);
            let is_in = |output: &&Named| {
                let file = output.file.as_ref();
                file.is_some_and(|file| file.starts_with(&real))
            };
            if let Some(found) = self.written.iter().find(is_in) {
                let place = match path.is_dir() {
                    true => "in the folder ",
                    false => "the file ",
                };
                return Err(err!(
                    "{found} is {place}`{}`, named by the parameter `{parameter}`; choose another file for {}",
                    path.display(),
                    found.option
                ));
            }
        }
        Ok(())
    }
}

/// Returns the store, which contains what was paid for, and the user's price file.
#[cfg(feature = "lm")]
fn of_models() -> Vec<(&'static str, PathBuf)> {
    let folder = crate::lm::Store::chosen_dir().ok();
    let files = folder.iter().flat_map(|dir| store_files(dir));
    let store = files.map(|file| ("the store", file));
    let prices = std::env::var_os("DSRS_PRICES").filter(|file| !file.is_empty());
    let prices = prices.map(|file| ("DSRS_PRICES", file.into()));
    store.chain(prices).collect()
}

#[cfg(not(feature = "lm"))]
fn of_models() -> Vec<(&'static str, PathBuf)> {
    Vec::new()
}

/// Returns a store's database and the files that SQLite keeps next to it.
#[cfg(feature = "lm")]
fn store_files(dir: &Path) -> [PathBuf; 3] {
    let file = crate::lm::Store::FILE;
    ["", "-wal", "-shm"].map(|end| dir.join(format!("{file}{end}")))
}

/// Returns no files, because a program without language models has no store.
#[cfg(not(feature = "lm"))]
fn store_files(_: &Path) -> [PathBuf; 0] {
    []
}

impl Named {
    fn new(option: &str, path: PathBuf) -> Self {
        let named = match is_standard(&path) {
            true => Path::new("/dev/stdin"),
            false => &path,
        };
        let is_comparable = named.is_file() || !named.exists();
        Self {
            option: option.to_owned(),
            file: is_comparable.then(|| real_path(named)),
            path,
        }
    }

    fn check_other_than<'b>(&self, files: impl IntoIterator<Item = &'b Self>) -> Result<()> {
        let is_same = |other: &&Named| other.file.is_some() && other.file == self.file;
        match files.into_iter().find(is_same) {
            Some(other) => {
                let option = &self.option;
                Err(err!(
                    "{self} and {other} are the same file; choose another file for {option}"
                ))
            }
            None => Ok(()),
        }
    }
}

impl Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = format!("{} {}", self.option, self.path.display());
        f.write_str(name.trim_end())
    }
}

/// An option's output, such as `--markdown FILE`.
pub(super) struct Output {
    option: &'static str,
    path: PathBuf,
    /// `None` for standard output.
    file: Option<OutputFile>,
}

impl Output {
    /// Checks that the file can be written, without creating it under its name yet.
    pub(super) fn create(option: &'static str, path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let file = (!is_standard(&path))
            .then(|| OutputFile::create(&path))
            .transpose();
        let file = file.map_err(|reason| unwritable(option, &path, &reason))?;
        Ok(Self { option, path, file })
    }

    /// Returns `true` if the output is printed instead of the result's text.
    pub(super) fn is_standard(&self) -> bool {
        self.file.is_none()
    }

    /// Writes the file, if the output is a file.
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
}

pub(super) fn unwritable(option: &str, file: &Path, reason: &io::Error) -> CliError {
    err!("{option} {}: cannot be written: {reason}", file.display())
}
