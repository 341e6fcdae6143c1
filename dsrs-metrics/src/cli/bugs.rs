//! Panics, of which no user sees more than a line.

use std::panic::{self, UnwindSafe};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What the last panic said, and where.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program. The harness turns a metric's panic into a failed row; a panic that gets here is
/// a mistake of ours.
pub(super) fn in_one_line(run: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let said = info.payload_as_str().unwrap_or("a panic without words");
        let at = info.location().map(|at| format!(" ({at})")).unwrap_or_default();
        let line = format!("{}{at}", said.replace('\n', " "));
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }));
    panic::catch_unwind(run).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        eprintln!("error: a bug in dsrs-metrics: {}", last.unwrap_or_default());
        ExitCode::from(101)
    })
}
