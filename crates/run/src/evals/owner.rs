//! The claim of an eval on its name, since evals of one name share their baseline and their folder.

use std::io;
use std::path::Path;

use super::eval::Source;
use super::paths::change_file;

/// The variable in which nextest names a run of tests.
pub(super) const NEXTEST_RUN: &str = "NEXTEST_RUN_ID";

/// Returns an error if another eval of the package has the same name, in this run of tests.
pub(super) fn claim_name(source: &Source, folder: &Path, target: &Path) -> Result<(), String> {
    // Without the line, which an edit moves.
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
            "two evals of the package `{}` have this name: {place}, and {other}; rename one, since they share baseline and folder",
            source.package
        )),
    }
}

/// The run of tests that this process belongs to: nextest's, or the process that started the test binaries.
pub(super) fn run_id() -> String {
    let of_nextest = std::env::var(NEXTEST_RUN).ok();
    let of_parent = || {
        #[cfg(unix)]
        let parent = std::os::unix::process::parent_id();
        #[cfg(not(unix))]
        let parent = std::process::id();
        // The number of a process is used again, and its start is not.
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
