//! `generate`: shell completions and manual pages, made from the definitions of the arguments.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Command, Subcommand};
use clap_complete::Shell;
use clap_mangen::Man;

use super::output::{self, Result, print_generated};

/// Print shell completions, or a manual page
#[derive(Debug, Args)]
pub(super) struct GenerateArguments {
    #[command(subcommand)]
    generated: Generated,
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
    /// Completions for zsh, for the file _dsrs-metrics in a folder of $fpath
    CompleteZsh,
    /// The manual page of the program, or of one of its commands
    Man {
        /// The command; by default the page is about the program
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// Prints what the arguments ask for, for a program that was started under this name.
pub(super) fn run(command: Command, program: &OsStr, args: &GenerateArguments) -> Result<ExitCode> {
    let name = Path::new(program)
        .file_stem()
        .and_then(OsStr::to_str)
        .filter(is_plain);
    let name = name.unwrap_or("dsrs-metrics").to_owned();
    let mut command = command.display_name(name.clone()).bin_name(name.clone());
    let shell = match &args.generated {
        Generated::CompleteBash => Shell::Bash,
        Generated::CompleteElvish => Shell::Elvish,
        Generated::CompleteFish => Shell::Fish,
        Generated::CompletePowershell => Shell::PowerShell,
        Generated::CompleteZsh => Shell::Zsh,
        Generated::Man { command: page } => return print_page(command, page.as_deref()),
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    print(&text)
}

/// Returns `true` if a script can contain the name without quoting.
fn is_plain(name: &&str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    !name.is_empty() && name.chars().all(is_plain)
}

fn print_page(mut program: Command, page: Option<&str>) -> Result<ExitCode> {
    program.build();
    let command = match page {
        None => program,
        Some(page) => match program.find_subcommand(page) {
            Some(command) => command.clone(),
            None => {
                let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
                let message = format!(
                    "unknown command '{page}'; write one of: {}",
                    names.join(", ")
                );
                let error = program.error(ErrorKind::InvalidSubcommand, message);
                return Ok(output::report(&error));
            }
        },
    };
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    print(&text)
}

fn print(text: &[u8]) -> Result<ExitCode> {
    print_generated(&String::from_utf8_lossy(text))?;
    Ok(ExitCode::SUCCESS)
}
