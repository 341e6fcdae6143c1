//! `compare`: two result files over the same rows. The comparison is in `results/`.

mod args;

use std::io::Write as _;
use std::process::ExitCode;

use dsrs_metrics_formats::Epochs;
use indexmap::IndexSet;

use super::error::CliError;
use super::exit::fail_each;
use super::files::Files;
use super::from::InputFile;
use super::output::Output;
use super::runs::{check_unique, metric_of};
use super::stdio::{annotate, print, print_error, print_json};
use crate::messages::escape;
use crate::metrics::Registry;
use crate::results::{Comparison, MetricComparison, ResultsError, RunScores, Verdict};

pub(super) use args::CompareArguments;
use args::PValue;

/// Why runs cannot be compared, or not be judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("--fail-if-worse: {sentence}{}", more(*others))]
    NoTest { sentence: String, others: usize },
    #[error("--lower-is-better: {0}")]
    Direction(ResultsError),
    #[error("--allow-different: {0}")]
    Allowed(ResultsError),
    #[error(
        "{}; to compare {them} nevertheless, write --allow-different {names}; to compare only others, name them with -m",
        .sentences.join("; ")
    )]
    Different {
        sentences: Vec<String>,
        them: &'static str,
        names: String,
    },
    #[error(transparent)]
    Results(ResultsError),
    #[error(transparent)]
    Cli(#[from] CliError),
}

impl From<ResultsError> for Error {
    fn from(error: ResultsError) -> Self {
        match error.name() {
            Some("lower_is_better") => Self::Direction(error),
            Some("allow_different") => Self::Allowed(error),
            _ => Self::Results(error),
        }
    }
}

/// The number of further metrics without a test.
fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => "; and 1 more metric cannot be tested".to_owned(),
        others => format!("; and {others} more metrics cannot be tested"),
    }
}

pub(super) fn run(registry: &Registry, args: &CompareArguments) -> Result<ExitCode, Error> {
    let exit = compared(registry, args);
    if let (true, Err(error)) = (args.github, &exit) {
        annotate("compare", &error.to_string());
    }
    exit
}

fn compared(registry: &Registry, args: &CompareArguments) -> Result<ExitCode, Error> {
    Files::new()
        .read("A", [&args.a])
        .read("B", [&args.b])
        .write("--markdown", args.markdown.as_ref())
        .json_output(args.json)
        .check()?;
    check_unique(&args.metrics)?;
    let mut builder = Comparison::builder()
        .metrics(args.metrics.iter().map(String::as_str))
        .allow_different(args.allow_different.iter().map(String::as_str))
        .strict_identity(args.strict_identity)
        .only_paired(args.only_paired)
        .mid_p(args.p == PValue::Mid)
        .require_identity(args.runs.require_identity || args.fail_if_worse)
        .seed(args.seed);
    if let Some(field) = &args.group {
        builder = builder.group(field);
    }
    if !args.json {
        // The text shows fewer, and JSON all.
        builder = builder.listed_rows(100);
    }
    let read = |file| -> Result<RunScores, Error> {
        let input = InputFile::open(args.from, Epochs::Repeats, file, false)?;
        let run = args.runs.read_scores(&builder, input.named())?;
        args.from.check_has_scores(file, run.metrics().len())?;
        Ok(run)
    };
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let markdown = args.markdown.as_ref();
    let markdown = markdown
        .map(|file| Output::create("--markdown", file))
        .transpose()?;
    let named: Vec<&str> = match &*args.metrics {
        [] => a.metrics().collect(),
        metrics => metrics.iter().map(|name| metric_of(name)).collect(),
    };
    let builder = builder.lower_is_better(args.runs.lower_is_better(registry, named));
    let comparison = builder.of_scores(&a, &b)?;
    let printed = match &markdown {
        _ if args.json => print_json(&comparison),
        Some(markdown) if markdown.is_standard() => print(&comparison.markdown()),
        _ => print(&comparison.to_string()),
    };
    let printed = printed.map_err(CliError::StandardOutput);
    let written = markdown.map_or(Ok(()), |markdown| {
        markdown.write(|out| out.write_all(comparison.markdown().as_bytes()))
    });
    warn_of_unknown_directions(registry, &comparison, [&a, &b], args);
    let judged = match args.fail_if_worse {
        true => judge(&comparison, args),
        false => Ok(ExitCode::SUCCESS),
    };
    let exit = match judged {
        Ok(ExitCode::SUCCESS) => different(&comparison),
        judged => judged,
    };
    let failed = fail_each([printed, written].into_iter().filter_map(Result::err));
    Ok(failed.unwrap_or(exit?))
}

/// Returns an error if metrics are not compared, since they differ.
fn different(comparison: &Comparison) -> Result<ExitCode, Error> {
    let not_compared: Vec<_> = comparison.identity.not_compared().collect();
    if not_compared.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Error::Different {
        sentences: comparison.identity.sentences(),
        them: if not_compared.len() == 1 {
            "it"
        } else {
            "them"
        },
        names: not_compared
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(","),
    })
}

/// One line about the metrics whose direction is not known.
fn warn_of_unknown_directions(
    registry: &Registry,
    comparison: &Comparison,
    runs: [&RunScores; 2],
    args: &CompareArguments,
) {
    let is_unknown = |metric: &&MetricComparison| {
        let names = [&*metric.name, metric_of(&metric.name)];
        let is_in_manifest = |run: &RunScores| {
            run.manifest()
                .is_some_and(|it| it.run.metrics.contains_key(names[1]))
        };
        registry.get(names[1]).is_none()
            && !runs.into_iter().any(is_in_manifest)
            && !args
                .runs
                .lower_is_better
                .iter()
                .any(|named| names.contains(&&**named))
    };
    let unknown = comparison.metrics.iter().filter(is_unknown);
    let unknown: IndexSet<&str> = unknown.map(|metric| metric_of(&metric.name)).collect();
    let Some(first) = unknown.first() else { return };
    let (are, named) = match unknown.len() {
        1 => ("is not a metric", escape::name(first)),
        _ => ("are not metrics", "NAME".into()),
    };
    print_error(format_args!(
        "warning: {} {are} of this program, so higher counts as better; if lower is better, write --lower-is-better {named}",
        escape::names(unknown.iter().copied()),
    ));
}

/// The exit code of `--fail-if-worse`. A metric that is worse counts more than one that cannot be tested.
fn judge(comparison: &Comparison, args: &CompareArguments) -> Result<ExitCode, Error> {
    for metric in comparison.worse() {
        let line = format!("B is worse: {}", metric.sentence());
        if args.github {
            annotate("compare", &line)
        } else {
            print_error(line)
        }
    }
    let mut untested = comparison
        .metrics
        .iter()
        .filter_map(|it| untested(it, args.only_paired));
    let untested = untested.next().map(|first| {
        let others = untested.count();
        Error::NoTest {
            sentence: first,
            others,
        }
    });
    match (comparison.worse().next(), untested) {
        (None, None) => Ok(ExitCode::SUCCESS),
        (None, Some(error)) => Err(error),
        (Some(_), error) => {
            if let Some(error) = error {
                print_error(format_args!("warning: {error}"));
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Why `--fail-if-worse` cannot pass by this metric.
fn untested(metric: &MetricComparison, only_paired: bool) -> Option<String> {
    let is_untested = matches!(
        metric.verdict,
        Verdict::NotEnoughRows { .. } | Verdict::NotTested
    );
    if is_untested {
        return Some(metric.sentence());
    }
    match metric.scored_in_one() {
        rows @ 1.. if !only_paired => Some(format!(
            "`{}`: {rows} rows have a score in only one of the runs; score them, or leave them out with --only-paired",
            escape::name(&metric.name)
        )),
        _ => None,
    }
}
