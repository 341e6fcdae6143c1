//! Standard output and standard error. Their reader may close them early, as in
//! `dsrs-metrics list | head -1`.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

/// Writes to standard output. A closed pipe is not an error: its reader has read what it needs.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes a value as one line of JSON to standard output.
pub(super) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_string(value).map_err(io::Error::other)?;
    print(&format!("{json}\n"))
}

/// Writes one line to standard error. Line breaks become spaces, since messages contain error texts
/// of metrics and names of files.
pub(super) fn print_error(message: impl fmt::Display) {
    let line = message.to_string().replace(['\n', '\r'], " ");
    // If standard error is closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "{line}");
}
