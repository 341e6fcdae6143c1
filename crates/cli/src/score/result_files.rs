//! Result files among the data: their rows are scored again.

use crate::args::ScoreArguments;
use crate::error::CliError;
use crate::files::is_regular;
use crate::results::{ResultsError, manifest_of};

/// Checks that result files are those that their manifests describe. Returns a line for each without a manifest.
pub(super) fn check(args: &ScoreArguments) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    if args.from.from.is_some() {
        return Ok(lines);
    }
    for file in args.data.iter().filter(|file| is_regular(file)) {
        let manifest =
            manifest_of(file, args.format.map(Into::into)).map_err(ResultsError::from)?;
        if let Some(Err(reason)) = manifest {
            lines.push(format!(
                "warning: {}: identity unknown: {reason}",
                file.display()
            ));
        }
    }
    Ok(lines)
}
