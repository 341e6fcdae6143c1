//! Exit codes, and errors that end a command.

use std::fmt::Display;
use std::process::ExitCode;

use super::stdio;

/// The exit code for invalid usage or input.
pub(super) const INVALID: u8 = 2;

/// Prints errors, and returns the exit code if there is one.
pub(super) fn fail_each(errors: impl Iterator<Item = impl Display>) -> Option<ExitCode> {
    errors.fold(None, |_, error| Some(fail(&error)))
}

/// Prints an error, and returns the exit code for invalid usage or input.
pub(super) fn fail(error: &dyn Display) -> ExitCode {
    stdio::print_error(format_args!("error: {error}"));
    ExitCode::from(INVALID)
}
