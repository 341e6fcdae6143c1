//! The environment variables that an eval reads, and its folders and files.

use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use super::eval::Source;
use crate::evaluate::files::{OutputFile, real_path};
use crate::named_files::{read_regular, require_regular};

/// The variable that decides when baselines are written.
pub(super) const VARIABLE: &str = "DSRS_UPDATE";

/// The environment of an eval.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    pub(super) update: Result<Update, String>,
    pub(super) target_folder: PathBuf,
    /// `true` if GitHub Actions runs the test.
    pub(super) is_github: bool,
    /// `true` if a CI system runs the test, according to the variable that all of them set.
    pub(super) is_ci: bool,
}

impl Environment {
    pub(super) fn of_process(source: &Source) -> Self {
        Self {
            update: Update::of(env::var(VARIABLE).ok().as_deref(), is_ci()),
            target_folder: source.target_folder(),
            is_ci: is_ci(),
            is_github: env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
        }
    }
}

/// When a new baseline is written, similar to insta's snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Update {
    /// Writes nothing.
    No,
    /// If a run's outcomes differ from the baseline, saves the run in the target folder until you accept it. Records
    /// calls missing from a replay only if `records` is set.
    New { records: bool },
    /// Replaces the baseline and records all calls in a replay again.
    Always,
}

impl Update {
    fn of(value: Option<&str>, is_ci: bool) -> Result<Self, String> {
        match value.map(str::trim) {
            None | Some("" | "auto") if is_ci => Ok(Self::No),
            None | Some("" | "auto") => Ok(Self::New { records: false }),
            Some("no") => Ok(Self::No),
            Some("new") => Ok(Self::New { records: true }),
            Some("always") => Ok(Self::Always),
            Some(other) => Err(format!(
                "{VARIABLE} is {other:?}; expected `auto` (`no` in CI, else a pending baseline), `no`, `new` or `always`"
            )),
        }
    }
}

/// Returns `true` in CI, according to the variable that CI systems set.
fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(&*value, "" | "0" | "false"))
}

/// The variable that nextest sets to the id of a test run.
pub(super) const NEXTEST_RUN: &str = "NEXTEST_RUN_ID";

/// Returns an error if another eval of the package has the same name in this test run.
pub(super) fn claim_name(source: &Source, folder: &Path, target: &Path) -> Result<(), String> {
    // Without the line, which changes with edits.
    let place = format!("{} in {}", source.module, source.file);
    let run = format!("{}\n", run_id());
    let other = other_owner(&folder.join("owner"), &run, &place).map_err(|error| {
        format!(
            "cannot write under the target folder `{}`: {error}; make it writable, or set CARGO_TARGET_DIR",
            target.display()
        )
    })?;
    match other {
        None => Ok(()),
        Some(other) => Err(format!(
            "two evals of the package `{}` have this name: {place}, and {other}; rename one, because they would share a baseline and a folder",
            source.package
        )),
    }
}

/// Returns the test run that this process belongs to: nextest's, or the process that started the test binaries.
pub(super) fn run_id() -> String {
    let of_nextest = std::env::var(NEXTEST_RUN).ok();
    let of_parent = || {
        #[cfg(unix)]
        let parent = std::os::unix::process::parent_id();
        #[cfg(not(unix))]
        let parent = std::process::id();
        // Process ids are reused, but not together with a start time.
        let started = std::fs::read_to_string(format!("/proc/{parent}/stat")).ok();
        let started = started.and_then(|stat| {
            let after_name = stat.rsplit_once(')')?.1;
            after_name.split_whitespace().nth(19).map(str::to_owned)
        });
        format!("{parent}-{}", started.unwrap_or_default())
    };
    let id = of_nextest.unwrap_or_else(of_parent);
    id.chars()
        .filter(|it| it.is_ascii_alphanumeric() || *it == '-')
        .take(64)
        .collect()
}

/// The folder for evals, relative to the target folder.
#[doc(hidden)]
pub const FOLDER: &str = "dsrs-metrics/evals";

impl Source {
    /// Returns the package's folder. If the test runs on a different machine than the one that compiled it, the folder
    /// is read from the variable that cargo and nextest set.
    pub(super) fn package_folder(&self) -> PathBuf {
        match env::var_os("CARGO_MANIFEST_DIR") {
            // No other package has a test binary that runs this eval.
            Some(folder) if env::var_os("CARGO_PKG_NAME").is_some_and(|it| it == self.package) => {
                folder.into()
            }
            _ => self.folder.into(),
        }
    }

    /// Returns the folder that the eval writes to, below the target folder.
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

    /// Returns a path to the attribute's source file that exists.
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
        let package = real_path(&self.package_folder());
        let file = package.join(path);
        let is_parent = |part| part == Component::ParentDir;
        let is_outside =
            !real_path(&file).starts_with(&package) || Path::new(path).components().any(is_parent);
        match is_outside {
            true => Err(format!(
                "`{key} = {path:?}` is outside the package `{}`; move the file into the package, for example into `evals`",
                package.display()
            )),
            false => Ok(file),
        }
    }
}

/// Returns the other place that owns a name in this run. If there is none, records this place as the owner. A lock
/// makes other threads and processes wait, and the new content replaces the old atomically.
fn other_owner(path: &Path, run: &str, place: &str) -> io::Result<Option<String>> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    require_regular(path)?;
    let file = loop {
        match OutputFile::create(path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            created => break created?,
        }
    };
    let text = match read_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read?,
    };
    match text.strip_prefix(run) {
        Some(other) => Ok(Some(other).filter(|it| *it != place).map(str::to_owned)),
        None => {
            file.write(|out| write!(out, "{run}{place}"))?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Update;

    #[test]
    fn auto_is_no_in_ci() {
        assert_eq!(Update::of(None, true), Ok(Update::No));
        assert_eq!(
            Update::of(Some("auto"), false),
            Ok(Update::New { records: false })
        );
        assert_eq!(
            Update::of(Some("new"), true),
            Ok(Update::New { records: true })
        );
        assert_eq!(Update::of(Some("always"), true), Ok(Update::Always));
        assert_eq!(Update::of(Some("no"), false), Ok(Update::No));
        assert_eq!(
            Update::of(Some("yes"), false).unwrap_err(),
            "DSRS_UPDATE is \"yes\"; expected `auto` (`no` in CI, else a pending baseline), `no`, `new` or `always`"
        );
    }
}
