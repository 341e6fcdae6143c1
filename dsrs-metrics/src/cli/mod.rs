//! The command line: `list`, `score` and `agree` over a [`Registry`] of metrics.
//!
//! What a command does is in the file of its name, what a user may type in `args.rs`. Rows are read
//! in `data/`, scored in `evaluate/`.

mod agree;
mod args;
mod bugs;
mod error;
mod list;
mod output;
mod registry;
mod score;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use error::CliError;

pub use registry::{Registry, RegistryError};

/// Defines `fn main` with the commands of `dsrs-metrics` over these metrics beside the built-in ones.
///
/// A metric is listed by its type; it must implement [`Configure`](crate::Configure), which
/// `#[metric]` sees to. Needs the feature `cli`.
///
/// ```no_run
/// use dsrs_metrics::prelude::*;
///
/// /// Whether the answer names its sources.
/// #[metric]
/// fn sources_used(#[pred] sources: &[String]) -> bool {
///     !sources.is_empty()
/// }
///
/// dsrs_metrics::main![SourcesUsed];
/// ```
///
/// A metric of yours stands in for the built-in one of its name; two of yours with one name are an error
/// that says so as soon as the program starts.
#[macro_export]
macro_rules! main {
    ($($metric:ty),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::cli::main(|registry| {
                $(registry.add::<$metric>()?;)*
                ::core::result::Result::Ok(())
            })
        }
    };
}

/// What [`main!`](crate::main!) expands to: the built-in metrics and those that `add` adds, and the
/// arguments of the process.
///
/// Takes the panic hook: a metric that panics fails its row without a word on standard error, and a
/// mistake in this library becomes one line.
pub fn main(add: impl FnOnce(&mut Registry) -> Result<(), RegistryError>) -> ExitCode {
    bugs::in_one_line(|| {
        let mut registry = Registry::builtin();
        match add(&mut registry) {
            Ok(()) => run(&registry, std::env::args_os()),
            Err(error) => CliError::from(error).report(),
        }
    })
}

/// Runs one command; `args` begins with the program's name.
///
/// Results go to standard output, everything else to standard error. The exit code is 0 if all went
/// well, 1 if a metric is worse than `--fail-under` or `--max-errors` was reached, 2 for bad usage or
/// bad input, 130 after Ctrl-C.
///
/// ```
/// use dsrs_metrics::cli::{Registry, run};
/// use dsrs_metrics::metric_fn;
///
/// let mut registry = Registry::new();
/// registry.add_metric(metric_fn("same", |gold, pred| gold.get("x") == pred.get("x")))?;
/// let exit = run(&registry, ["scorer", "list"]);
/// assert_eq!(format!("{exit:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// # Ok::<(), dsrs_metrics::cli::RegistryError>(())
/// ```
pub fn run<A: Into<OsString> + Clone>(
    registry: &Registry,
    args: impl IntoIterator<Item = A>,
) -> ExitCode {
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output; that nobody reads it is no error.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let done = match arguments.command {
        Command::List(list) => list::run(registry, &list),
        Command::Score(score) => score::run(registry, &score),
        Command::Agree(agree) => agree::run(registry, &agree),
    };
    done.unwrap_or_else(|error| error.report())
}
