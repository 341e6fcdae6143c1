//! `compare`: two result files over the same rows. The comparison is in `results/`.

mod args;

use std::fs;
use std::process::ExitCode;

use super::error::CliError;
use super::stdio::{print, print_error, print_json};
use crate::metrics::Registry;
use crate::results::{CompareError, Comparison, MetricComparison, ResultsError, Verdict};
use crate::text::shown;

pub(super) use args::CompareArguments;

/// Why runs cannot be compared, or not be judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("--fail-if-worse: {0}")]
    NoTest(String),
    #[error(
        "--fail-if-worse: `{}`: {rows} rows have a score in only one of the runs; score them, or leave them out with --only-paired",
        shown::name(metric)
    )]
    ScoredInOne { metric: String, rows: u64 },
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Results(#[from] ResultsError),
    #[error(transparent)]
    Cli(#[from] CliError),
}

pub(super) fn run(registry: &Registry, args: &CompareArguments) -> Result<ExitCode, Error> {
    if [&args.a, &args.b].iter().all(|file| file.as_os_str() == "-") {
        return Err(CliError::StandardInputTwice.into());
    }
    let (a, b) = (args.runs.read(&args.a)?, args.runs.read(&args.b)?);
    let mut builder = Comparison::builder()
        .metrics(args.metrics.iter().map(String::as_str))
        .lower_is_better(args.runs.lower_is_better(registry, a.metrics()))
        .only_paired(args.only_paired)
        .seed(args.seed);
    if let Some(field) = &args.group {
        builder = builder.group(field);
    }
    let comparison = builder.of(&a, &b)?;
    let printed = if args.json { print_json(&comparison) } else { print(&comparison.to_string()) };
    printed.map_err(CliError::StandardOutput)?;
    if let Some(file) = &args.markdown {
        let unwritable = |reason| CliError::Unwritable { file: file.clone(), reason };
        fs::write(file, comparison.markdown()).map_err(unwritable)?;
    }
    warn_of_unknown_directions(registry, &comparison, args);
    if args.fail_if_worse {
        return judge(&comparison, args.only_paired);
    }
    Ok(ExitCode::SUCCESS)
}

fn warn_of_unknown_directions(
    registry: &Registry,
    comparison: &Comparison,
    args: &CompareArguments,
) {
    for MetricComparison { name, .. } in &comparison.metrics {
        let metric = name.split_once('.').map_or(&**name, |(metric, _)| metric);
        let is_named =
            args.runs.lower_is_better.iter().any(|named| named == name || named == metric);
        if registry.get(metric).is_none() && !is_named {
            print_error(format_args!(
                "warning: `{}` is not a metric of this program, so higher counts as better; if lower is better, write --lower-is-better {}",
                shown::name(metric),
                shown::name(metric)
            ));
        }
    }
}

/// The exit code of `--fail-if-worse`.
fn judge(comparison: &Comparison, only_paired: bool) -> Result<ExitCode, Error> {
    for metric in &comparison.metrics {
        let is_untested = matches!(metric.verdict, Verdict::NotEnoughRows { .. });
        if is_untested || metric.p_adjusted.is_none() {
            return Err(Error::NoTest(metric.sentence()));
        }
        let rows = metric.scored_in_one();
        if rows > 0 && !only_paired {
            return Err(Error::ScoredInOne { metric: metric.name.clone(), rows });
        }
    }
    let mut exit = ExitCode::SUCCESS;
    for metric in comparison.worse() {
        print_error(format_args!("B is worse: {}", metric.sentence()));
        exit = ExitCode::FAILURE;
    }
    Ok(exit)
}
