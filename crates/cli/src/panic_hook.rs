//! The panic hook of the command line: a panic becomes one line and an exit code.

use std::panic;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use super::stdio::print_error;
use crate::core::panic::{catch, message};

/// The exit code of a panic, as in a program without this hook.
const PANICKED: u8 = 101;

/// The message and the location of the last panic.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program with a hook that prints nothing. The harness turns a panic of a metric into a
/// failed row; any other panic is an internal error, which is reported here.
pub(super) fn run_with_hook(run: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let message = message(info.payload());
        let location = info
            .location()
            .map(|at| format!(" ({at})"))
            .unwrap_or_default();
        let line = format!("{message}{location}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }));
    catch(false, run).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        print_error(format_args!(
            "error: internal error in dsrs-metrics: {}",
            last.unwrap_or_default()
        ));
        ExitCode::from(PANICKED)
    })
}
