//! The claim of an eval on its name, since evals of one name share their baseline and their folder.

use std::io;
use std::path::Path;

use super::eval::Source;
use super::paths::change_file;
use super::pool::run_id;

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
