//! `accept`: shows how the results of evals differ from their baselines, and makes them the new baselines.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use dsrs_metrics_run::evals::{Baseline, FOLDER, Pending};

use super::output::{CliError, Result, err, print, print_error};
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::results::Comparison;

/// Accept the results of evals as their new baselines, for you to commit
///
/// If the outcomes of an eval (`#[eval]`) differ from its baseline, the run keeps them in the target folder. This
/// command shows how they differ, and then replaces the baseline.
///
/// Exit code: 0 on success; 2 for invalid usage or input, such as a baseline that changed after the run.
#[derive(Debug, Args)]
pub(super) struct AcceptArguments {
    /// The evals; by default, all evals that have new results
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Show the comparisons without changing anything
    #[arg(long)]
    show: bool,
    /// The target folder of the tests; by default CARGO_TARGET_DIR, or else the first `target` folder with evals in
    /// this folder or above it
    #[arg(long, value_name = "DIR")]
    target_dir: Option<PathBuf>,
}

pub(super) fn run(args: &AcceptArguments) -> Result<ExitCode> {
    let folder = folder(args.target_dir.as_deref())?;
    let mut pending = Pending::all(&folder).map_err(CliError::new)?;
    for name in &args.names {
        if !pending.iter().any(|(_, pending)| pending.eval == *name) {
            let known = pending.iter().map(|(_, pending)| &*pending.eval);
            let hint = known_names(name, known);
            return Err(err!("`{}` has no new results{hint}", escape::name(name)));
        }
    }
    pending.retain(|(_, pending)| args.names.is_empty() || args.names.contains(&pending.eval));
    if pending.is_empty() {
        print_error("no eval has new results");
    }
    // All evals are checked before the first one is accepted.
    let texts = pending.iter().map(|(_, pending)| shown(pending));
    let texts: Result<Vec<_>, String> = texts.collect();
    let texts = texts.map_err(CliError::new)?;
    for ((folder, pending), text) in pending.iter().zip(texts) {
        print(&text)?;
        if args.show {
            continue;
        }
        pending.accept().map_err(CliError::new)?;
        Pending::remove(folder).map_err(CliError::new)?;
        print_error(format_args!("accepted: {}", pending.baseline.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder that contains all evals.
fn folder(target: Option<&Path>) -> Result<PathBuf> {
    let of_variable = || env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let here = env::current_dir().unwrap_or_default();
    let targets = match target.map(Path::to_owned).or_else(of_variable) {
        Some(target) => vec![target],
        None => here.ancestors().map(|it| it.join("target")).collect(),
    };
    let mut folders = targets.iter().map(|target| target.join(FOLDER));
    folders.find(|folder| folder.is_dir()).ok_or_else(|| {
        err!(
            "no folder `{FOLDER}` in the `target` folder here or in a parent folder; run the evals first, or pass --target-dir DIR"
        )
    })
}

/// Compares the new results with the baseline, and returns the comparison as text.
fn shown(pending: &Pending) -> Result<String, String> {
    let (old, new) = (pending.replaced()?, pending.accepted()?);
    let title = format!("{} ({})\n", pending.eval, pending.package);
    let Some(old) = old else {
        let rows = new.results.rows().len();
        return Ok(format!("{title}first baseline, {rows} rows\n\n"));
    };
    Ok(format!("{title}{}\n\n", compared(old, new)))
}

fn compared(old: Baseline, new: Baseline) -> String {
    let old = old.results.with_name("baseline");
    let new = new.results.with_name("new");
    let is_old = |name: &&str| old.metrics().any(|other| other == *name);
    let (both, added): (Vec<_>, Vec<_>) = new.metrics().partition(is_old);
    let removed: Vec<_> = old.metrics().filter(|name| !both.contains(name)).collect();
    let mut builder = Comparison::builder().only_paired(true);
    // Different metrics can be the reason to accept a new baseline, so only shared metrics are compared.
    if !both.is_empty() {
        builder = builder.metrics(both);
    }
    let mut text = match builder.of(&old, &new) {
        Ok(comparison) => comparison.to_string().trim_end().to_owned(),
        Err(error) => error.to_string(),
    };
    for (metrics, of) in [(added, "new results"), (removed, "baseline")] {
        if !metrics.is_empty() {
            text += &format!("\nonly in the {of}: {}", escape::names(metrics.into_iter()));
        }
    }
    text
}
