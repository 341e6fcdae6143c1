//! Standard output, which may be closed by whoever reads it: `dsrs-metrics list | head -1`.

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
