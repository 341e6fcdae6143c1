//! Part of [dsrs-metrics](https://docs.rs/dsrs-metrics), which documents it. This package has no stable API of its own.
//!
//! The command line: `list`, `score`, `rejudge`, `agree`, `compare`, `report`, `export`, `accept` and `generate` over a [`Registry`] of metrics.
//!
//! Each command is in the module of its name, and `args.rs` defines the arguments. `files.rs` checks that no output is an
//! input or another output, and `output.rs` writes outputs. `limit.rs` has the limits of scores. `data/` reads rows, and `evaluate/` scores them. No other part
//! of the library uses this module.

mod accept;
mod agree;
mod args;
mod compare;
mod error;
mod export;
mod files;
mod from;
mod generate;
mod limit;
mod list;
mod otlp;
mod output;
mod panic_hook;
mod rejudge;
mod report;
mod runs;
mod score;
mod settings;
mod stdio;
#[cfg(feature = "lm")]
mod store;
mod value_parsers;

use dsrs_metrics_builtin::metrics;
use dsrs_metrics_core::{self as core, judge, lm};
use dsrs_metrics_run::{agreement, data, evaluate, results};
use dsrs_metrics_values::{json, messages, stats};

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use error::fail;

pub use crate::metrics::{Registry, RegistryError};

/// Runs the command in the arguments of the process, with the built-in metrics and the metrics that `add`
/// adds. This is what `dsrs_metrics::main!` expands to.
///
/// Replaces the panic hook: a metric that panics fails its row and prints nothing, and a panic in
/// this library becomes one line on standard error and exit code 101.
pub fn main(add: impl FnOnce(&mut Registry) -> Result<(), RegistryError>) -> ExitCode {
    panic_hook::run_with_hook(|| {
        let mut registry = Registry::builtin();
        match add(&mut registry) {
            Ok(()) => run(&registry, std::env::args_os()),
            Err(error) => fail(&error),
        }
    })
}

/// What `dsrs_metrics::main!` returns from `main`, and no other function does.
#[doc(hidden)]
pub struct MainExit(ExitCode);

impl From<ExitCode> for MainExit {
    fn from(code: ExitCode) -> Self {
        Self(code)
    }
}

impl std::process::Termination for MainExit {
    fn report(self) -> ExitCode {
        self.0
    }
}

#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`dsrs_metrics::main!` defines the function `main`, and nothing calls it inside another function",
    label = "write `dsrs_metrics::main!` outside of all functions, and remove `fn main`"
)]
pub trait OfMain {}

impl OfMain for MainExit {}

/// Checks that `main` is the one that `dsrs_metrics::main!` defines.
#[doc(hidden)]
pub const fn is_main<R: OfMain>(_: fn() -> R) {}

/// Runs one command; `args` starts with the name of the program.
///
/// Results are printed to standard output, everything else to standard error. The exit code is 0 on
/// success, 1 if a metric is worse than `--fail-under` or, with `--fail-if-worse`, than before, all rows failed, `--max-errors` was reached
/// or `--budget` did not cover all rows, 2 for invalid usage or input, and 130 after Ctrl-C, SIGTERM
/// or SIGHUP.
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
    let mut args = args.into_iter().map(Into::into).peekable();
    let program = args.peek().cloned().unwrap_or_default();
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => return error::report(&error),
    };
    match arguments.command {
        Command::List(args) => list::run(registry, &args).unwrap_or_else(|error| fail(&error)),
        Command::Score(args) => score::run(registry, &args).unwrap_or_else(|error| fail(&error)),
        Command::Agree(args) => agree::run(registry, &args).unwrap_or_else(|error| fail(&error)),
        Command::Compare(args) => {
            compare::run(registry, &args).unwrap_or_else(|error| fail(&error))
        }
        Command::Rejudge(args) => {
            rejudge::run(registry, &args).unwrap_or_else(|error| fail(&error))
        }
        Command::Export(args) => export::run(&args).unwrap_or_else(|error| fail(&error)),
        #[cfg(feature = "lm")]
        Command::Store(args) => store::run(&args).unwrap_or_else(|error| fail(&error)),
        Command::Accept(args) => accept::run(&args).unwrap_or_else(|error| fail(&error)),
        Command::Generate(args) => {
            generate::run(&program, &args).unwrap_or_else(|error| fail(&error))
        }
        Command::Report(args) => report::run(registry, &args).unwrap_or_else(|error| fail(&error)),
    }
}
