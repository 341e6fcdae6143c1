//! What an eval reads from the environment of its process.

use std::env;
use std::path::PathBuf;

use super::eval::Source;

/// The variable that decides it.
pub(super) const VARIABLE: &str = "DSRS_UPDATE";

/// The environment of an eval.
#[derive(Debug, Clone)]
pub(super) struct Environment {
    pub(super) update: Result<Update, String>,
    pub(super) target_folder: PathBuf,
    /// `true` if GitHub Actions runs the test.
    pub(super) is_github: bool,
    /// `true` if a CI system runs the test, by the variable that all of them set.
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

/// When a new baseline is written, as insta does with snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Update {
    /// Nothing is written.
    No,
    /// A run whose outcomes differ from the baseline is written as pending, below the target folder. Calls that a replay
    /// lacks are recorded only if `records`.
    New { records: bool },
    /// The baseline is replaced, and all calls of a replay are recorded anew.
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

/// Whether this runs in CI, by the variable that CI systems set.
fn is_ci() -> bool {
    env::var("CI").is_ok_and(|value| !matches!(&*value, "" | "0" | "false"))
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
