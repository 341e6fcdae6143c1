//! An internal crate of [dsrs-metrics](https://docs.rs/dsrs-metrics).
//!
//! This crate has no stable API of its own. Use `dsrs-metrics` instead.
//!
//! The command line for a [`Registry`] of metrics.
//!
//! The commands are `list`, `score`, `rejudge`, `agree`, `compare`, `plan`, `report`, `export`, `accept` and
//! `generate`.
//!
//! Each command except `generate` has a module with its name, and `args.rs` defines the arguments. `files.rs` checks
//! that no output is an input or another output, and writes outputs. `options.rs` parses the values of options. `data/`
//! reads rows, and `evaluate/` scores them. No other part of the library uses this module.

mod accept;
mod agree;
mod args;
mod compare;
mod export;
mod files;
mod from;
mod list;
mod options;
mod otlp;
mod output;
mod own_scores;
mod plan;
mod rejudge;
mod report;
mod score;
#[cfg(feature = "lm")]
mod store;

use std::ffi::{OsStr, OsString};
use std::panic;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use args::{AgreeArguments, ListArguments, ScoreArguments};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;
use dsrs_metrics_builtin::metrics;
use dsrs_metrics_core::{self as contract, judge, lm};
use dsrs_metrics_run::{agreement, data, evaluate, results};
use dsrs_metrics_values::{json, messages, stats};
use output::{err, fail, print_error, print_generated};

pub use crate::metrics::{Registry, RegistryError};

/// Scores the predictions of programs built on language models.
#[derive(Debug, Parser)]
#[command(name = "dsrs-metrics", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(ListArguments),
    Score(Box<ScoreArguments>),
    Rejudge(Box<rejudge::RejudgeArguments>),
    Agree(AgreeArguments),
    Compare(compare::CompareArguments),
    Plan(plan::PlanArguments),
    Report(report::ReportArguments),
    Export(export::ExportArguments),
    Accept(accept::AcceptArguments),
    /// Print shell completions, or a manual page
    #[command(subcommand)]
    Generate(Generated),
    #[cfg(feature = "lm")]
    Store(store::StoreCommand),
}

/// Runs the command specified by the process's arguments.
///
/// The command can use the built-in metrics and those that `add` registers. `dsrs_metrics::main!` expands to a call to
/// this function.
///
/// This function replaces the panic hook. A panicking metric fails its row and prints nothing. If the library itself
/// panics, the process prints one line to standard error and exits with code 101.
pub fn main(add: impl FnOnce(&mut Registry) -> Result<(), RegistryError>) -> ExitCode {
    run_with_hook(|| {
        let mut registry = Registry::builtin();
        match add(&mut registry) {
            Ok(()) => run(&registry, std::env::args_os()),
            Err(error) => fail(&error),
        }
    })
}

/// The return type of the `main` function that `dsrs_metrics::main!` defines.
///
/// No other function returns it.
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

/// Runs one command.
///
/// The first item of `args` is the program's name.
///
/// Results go to standard output, and everything else to standard error.
///
/// The exit code is 0 on success, 2 for invalid usage or input, and 130 after Ctrl-C, SIGTERM or SIGHUP. The exit code
/// is 1 in the following cases:
///
/// - A metric misses its `--fail-under` bound.
/// - A metric is worse than before, and you set `--fail-if-worse`.
/// - All rows failed.
/// - `--max-errors` was reached.
/// - `--budget` did not cover all rows.
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
        Err(error) => return output::report(&error),
    };
    let ran = match arguments.command {
        Command::List(args) => list::run(registry, &args),
        Command::Score(args) => score::run(registry, &args),
        Command::Agree(args) => agree::run(registry, &args),
        Command::Compare(args) => compare::run(registry, &args),
        Command::Plan(args) => plan::run(registry, &args),
        Command::Rejudge(args) => rejudge::run(registry, &args),
        Command::Export(args) => export::run(&args),
        #[cfg(feature = "lm")]
        Command::Store(args) => store::run(&args),
        Command::Accept(args) => accept::run(&args),
        Command::Generate(generated) => generate(&program, &generated),
        Command::Report(args) => report::run(registry, &args),
    };
    ran.unwrap_or_else(|error| fail(&error))
}

#[derive(Debug, Subcommand)]
enum Generated {
    /// Completions for bash, for ~/.local/share/bash-completion/completions/dsrs-metrics
    CompleteBash,
    /// Completions for elvish, for a file that rc.elv reads with `eval`
    CompleteElvish,
    /// Completions for fish, for ~/.config/fish/completions/dsrs-metrics.fish
    CompleteFish,
    /// Completions for PowerShell, for a file that $PROFILE runs
    CompletePowershell,
    /// Completions for zsh, for the file _dsrs-metrics in a folder in $fpath
    CompleteZsh,
    /// The manual page for the program, or for one of its commands
    Man {
        /// The command; by default, the page is about the program
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// Prints what the arguments ask for. The program was started under the name `program`.
fn generate(program: &OsStr, generated: &Generated) -> output::Result<ExitCode> {
    let name = Path::new(program).file_stem().and_then(OsStr::to_str);
    let name = name.filter(is_plain).unwrap_or("dsrs-metrics").to_owned();
    let command = Arguments::command().display_name(name.clone());
    let mut command = command.bin_name(name.clone());
    let shell = match generated {
        Generated::CompleteBash => Shell::Bash,
        Generated::CompleteElvish => Shell::Elvish,
        Generated::CompleteFish => Shell::Fish,
        Generated::CompletePowershell => Shell::PowerShell,
        Generated::CompleteZsh => Shell::Zsh,
        Generated::Man { command: page } => return print_page(command, page.as_deref()),
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    print_bytes(&text)
}

/// Returns `true` if a script can contain the name without quotes.
fn is_plain(name: &&str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    !name.is_empty() && name.chars().all(is_plain)
}

fn print_page(mut program: clap::Command, page: Option<&str>) -> output::Result<ExitCode> {
    program.build();
    let command = match page {
        None => program,
        Some(page) => program.find_subcommand(page).cloned().ok_or_else(|| {
            let names = program.get_subcommands().map(clap::Command::get_name);
            let names = Vec::from_iter(names).join(", ");
            err!("unknown command '{page}'; write one of: {names}")
        })?,
    };
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    print_bytes(&text)
}

fn print_bytes(text: &[u8]) -> output::Result<ExitCode> {
    print_generated(&String::from_utf8_lossy(text))?;
    Ok(ExitCode::SUCCESS)
}

/// The exit code after a panic, the same as without this hook.
const PANICKED: u8 = 101;

/// The message and location of the last panic.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Runs the program with a panic hook that prints nothing. The harness turns a metric's panic into a failed row. Any
/// other panic is an internal error, which is reported here.
fn run_with_hook(run: impl FnOnce() -> ExitCode) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let message = contract::panic::message(info.payload());
        let location = info.location().map(|at| format!(" ({at})"));
        let location = location.unwrap_or_default();
        let line = format!("{message}{location}");
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }));
    contract::panic::catch(false, run).unwrap_or_else(|_| {
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).take();
        let last = last.unwrap_or_default();
        print_error(format_args!(
            "error: internal error in dsrs-metrics: {last}"
        ));
        ExitCode::from(PANICKED)
    })
}
