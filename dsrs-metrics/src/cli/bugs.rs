//! Panics, of which no user sees more than a line.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use super::output::say;

/// What the last panic said, and where.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program. The harness turns a metric's panic into a failed row; a panic that gets here is
/// a mistake of ours.
pub(super) fn in_one_line(run: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let said = words(info.payload());
        let at = info.location().map(|at| format!(" ({at})")).unwrap_or_default();
        let line = format!("{said}{at}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }));
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        say(format_args!("error: a bug in dsrs-metrics: {}", last.unwrap_or_default()));
        ExitCode::from(101)
    })
}

/// Runs code of a user's; if it panics, what it said.
pub(super) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| words(&*payload).to_owned())
}

fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let said = text.or_else(|| payload.downcast_ref::<&str>().copied());
    said.unwrap_or("a panic without words")
}
