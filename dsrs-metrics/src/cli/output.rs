//! Standard output and standard error, which may be closed by whoever reads them:
//! `dsrs-metrics list | head -1`.

use std::fmt;
use std::io::{self, Write};

use super::error::CliError;

/// Writes all of `text`. A reader that went away has had enough; that is no error.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::StandardOutput(error))
        }
        _ => Ok(()),
    }
}

/// Writes one line to standard error, whatever a metric or a file's name has in it.
pub(super) fn say(what: impl fmt::Display) {
    let line = what.to_string().replace(['\n', '\r'], " ");
    // There is nobody left to tell that nobody listens.
    let _ = writeln!(io::stderr(), "{line}");
}
