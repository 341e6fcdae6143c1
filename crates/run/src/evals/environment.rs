//! The environment variables that an eval reads.

use std::path::{Path, PathBuf};
use std::{env, io};

use super::eval::Source;
use super::paths::change_file;

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
            update: Update::from_env(),
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
    /// Replaces the baseline and re-records all calls of a replay.
    Always,
}

impl Update {
    /// Returns the mode that the environment asks for.
    fn from_env() -> Result<Self, String> {
        Self::of(env::var(VARIABLE).ok().as_deref(), is_ci())
    }

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

/// The variable in which nextest names a test run.
pub(super) const NEXTEST_RUN: &str = "NEXTEST_RUN_ID";

/// Returns an error if another eval of the package has the same name in this test run.
pub(super) fn claim_name(source: &Source, folder: &Path, target: &Path) -> Result<(), String> {
    // Without the line, which changes with edits.
    let place = format!("{} in {}", source.module, source.file);
    let run = format!("{}\n", run_id());
    let other = change_file(&folder.join("owner"), |text| {
        let other = text.as_deref().and_then(|text| text.strip_prefix(&run));
        let other = other.filter(|other| *other != place).map(str::to_owned);
        if other.is_none() {
            *text = Some(format!("{run}{place}"));
        }
        Ok(other)
    });
    let other = other.map_err(|error: io::Error| {
        format!(
            "cannot write below the target folder `{}`: {error}; make it writable, or set CARGO_TARGET_DIR",
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
        // Process numbers are reused, but not together with a start time.
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
