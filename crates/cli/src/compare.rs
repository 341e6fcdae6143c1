//! `compare`: compares two result files over the same rows. `results/` computes the comparison.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use indexmap::IndexSet;

use super::files::{Files, Output};
use super::from::{FromArgument, InputFile};
use super::options::{RunArguments, check_unique, metric_of, set};
use super::output::{CliError, Result, annotate, err, fail_each, print, print_error, print_json};
use super::own_scores::OwnScoreArguments;
use crate::messages::escape;
use crate::metrics::Registry;
use crate::results::{
    Comparison, ComparisonBuilder, MetricComparison, ResultsError, RunScores, Verdict,
};

/// Compare two runs over the same rows: what changed from A to B, and whether the change is larger than chance would
/// explain
///
/// Rows are paired by id. Prints for each metric: the means, the difference B - A with a 95% interval (Tango's for pass
/// or fail, otherwise Student's t, or Wilson's if most rows are equal), the p-value, and the number of rows that are
/// better in each run; also tokens, cost and latency of both runs.
///
/// The test is McNemar's exact test for pass or fail, and otherwise the permutation test for paired scores: it tries
/// all assignments of signs for up to 17 different scores, and 100,000 random ones for more. For more than 50,000
/// differences of similar size, it uses the normal limit, whose error near 0.05 is below 0.0006. A score over all rows,
/// such as macro F1, or NAME.corpus next to the mean BLEU, is tested by exchanging the results of rows between the
/// runs: in all possible ways for up to 13 different rows, and in 10,000 random ways for more. A paired bootstrap
/// computes its interval. If several metrics can be tested, verdicts use p-values adjusted by Holm's method.
///
/// A failed row counts as the failure score, as in the headline of `score`. Rows that are gated, skipped or abstained
/// in either run are counted but not compared.
///
/// The manifests, FILE.manifest.json, show whether both runs measured the same metrics and data. A metric is not
/// compared if its version, parameters, threshold, judge or prompt differ, or if the provider reports that a different
/// model replied to its judge, unless --allow-different names the metric. Other differences, such as a data file that
/// changed, are reported. If a run has no manifest, its identity is unknown, and metrics are compared by their names,
/// unless --require-identity is set.
///
/// Exit code: 0 on success; 1 if B is worse and --fail-if-worse is set; 2 for invalid usage or input, if a metric is
/// not compared because it differs, or if --fail-if-worse finds nothing worse but cannot test a metric.
#[derive(Debug, Args)]
pub(super) struct CompareArguments {
    /// The first run, usually the older one: a file written by `score --out`, .jsonl, .json or
    /// .csv; `-` is standard input
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second run, usually the newer one
    #[arg(value_name = "B")]
    b: PathBuf,
    #[command(flatten)]
    from: FromArgument,
    #[command(flatten)]
    own: OwnScoreArguments,
    /// Compare only these metrics, separated by commas; NAME.PART is a metric's named score or component, and
    /// NAME.corpus is its score over all rows
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Group the rows by an attribute, or by gold.FIELD: intervals and tests account for the rows in a group being
    /// alike, and each group is also compared on its own. A row without the field, or with null, forms its own group
    #[arg(long, value_name = "FIELD")]
    group: Option<String>,
    /// Compare only the rows that both runs have
    #[arg(long)]
    only_paired: bool,
    #[command(flatten)]
    runs: RunArguments,
    /// Compare these metrics, separated by commas, even if they differ between the runs in version, parameter,
    /// threshold, judge, reported model or prompt
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_different: Vec<String>,
    /// The p-value for pass or fail, from McNemar's test: `exact`, or `mid`, which finds more differences but can
    /// slightly exceed its level
    #[arg(long, value_name = "KIND", value_enum, default_value_t = PValue::Exact)]
    p: PValue,
    /// Do not compare a metric if its code changed since A but its version did not, unless --allow-different names it;
    /// without this option, you just get a note
    #[arg(long)]
    strict_identity: bool,
    /// Test in a way that lets you look as often as you like: at runs of `score --stop-when`, and again when they have
    /// more rows. Rows are taken in the order of such runs. This takes more rows than a single look
    #[arg(long, conflicts_with = "group")]
    sequential: bool,
    /// The seed for the permutation test, the bootstrap, and the order of the rows with --sequential
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Exit with code 1 if B is worse than A by any of the metrics: the mean is worse and the adjusted p-value is below
    /// 0.05. If no metric is worse but one cannot be tested, that is an error: it has too few rows for such a p-value,
    /// or rows with a score in only one run, unless --only-paired is set. Implies --require-identity
    #[arg(long)]
    fail_if_worse: bool,
    /// Write the table and the sentences as Markdown, for the summary of a CI job; `-` prints both instead of the text
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a GitHub Actions annotation to standard error for each metric that is worse, and for any error, such as a
    /// metric that cannot be tested
    #[arg(long)]
    github: bool,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    json: bool,
}

/// The kind of p-value that McNemar's test computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PValue {
    Exact,
    Mid,
}

/// Creates an error for a comparison, prefixed with the option that causes it.
pub(super) fn of_comparison(error: ResultsError) -> CliError {
    match error.name() {
        Some("lower_is_better") => err!("--lower-is-better: {error}"),
        Some("allow_different") => err!("--allow-different: {error}"),
        Some("group") => err!("--group: {error}"),
        _ => error.into(),
    }
}

pub(super) fn run(registry: &Registry, args: &CompareArguments) -> Result<ExitCode> {
    let exit =
        compared(registry, args).map_err(|error| args.from.advise(error, [&args.a, &args.b]));
    if let (true, Err(error)) = (args.github, &exit) {
        annotate("compare", &error.to_string());
    }
    exit
}

fn compared(registry: &Registry, args: &CompareArguments) -> Result<ExitCode> {
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
        .sequential(args.sequential)
        .require_identity(args.runs.require_identity || args.fail_if_worse)
        .seed(args.seed);
    builder = set(builder, args.group.as_ref(), ComparisonBuilder::group);
    if !args.json {
        // The text shows fewer; JSON has all.
        builder = builder.listed_rows(100);
    }
    let read = |file| -> Result<RunScores> {
        let input = InputFile::open_scores(&args.own, args.from, file, true)?;
        let run = builder.read_named(input.named())?;
        let run = set(run, args.runs.failure_score, RunScores::with_failure_score);
        args.from.check_has_scores(file, run.metrics().len())?;
        Ok(run)
    };
    let (a, b) = (read(&args.a)?, read(&args.b)?);
    let markdown = |file: &PathBuf| Output::create("--markdown", file);
    let markdown = args.markdown.as_ref().map(markdown).transpose()?;
    let named: Vec<&str> = match &*args.metrics {
        [] => a.metrics().collect(),
        metrics => metrics.iter().map(|name| metric_of(name)).collect(),
    };
    let builder = builder.lower_is_better(args.runs.lower_is_better(registry, named));
    let comparison = builder.of_scores(&a, &b).map_err(of_comparison)?;
    let printed = match &markdown {
        _ if args.json => print_json(&comparison),
        Some(markdown) if markdown.is_standard() => print(&comparison.markdown()),
        _ => print(&comparison.to_string()),
    };
    let written = markdown.map_or(Ok(()), |markdown| {
        markdown.write(|out| out.write_all(comparison.markdown().as_bytes()))
    });
    let lower = &args.runs.lower_is_better;
    let warning = unknown_directions(registry, &comparison, [&a, &b], lower);
    warning.iter().for_each(print_error);
    let judged = match args.fail_if_worse {
        true => judge(&comparison, args),
        false => Ok(ExitCode::SUCCESS),
    };
    let exit = match judged {
        Ok(ExitCode::SUCCESS) => different(&comparison),
        judged => judged,
    };
    let failed = fail_each([printed, written]);
    Ok(failed.unwrap_or(exit?))
}

/// Returns an error if metrics are not compared because they differ.
fn different(comparison: &Comparison) -> Result<ExitCode> {
    let names = comparison.identity.not_compared().map(|(name, _)| name);
    let names: Vec<&str> = names.collect();
    let them = match names.len() {
        0 => return Ok(ExitCode::SUCCESS),
        1 => "it",
        _ => "them",
    };
    Err(err!(
        "{}; to compare {them} anyway, pass --allow-different {}; to compare only other metrics, select them with -m",
        comparison.identity.sentences().join("; "),
        names.join(",")
    ))
}

/// Returns a warning about the metrics whose direction is unknown.
fn unknown_directions(
    registry: &Registry,
    comparison: &Comparison,
    runs: [&RunScores; 2],
    lower_is_better: &[String],
) -> Option<String> {
    let is_unknown = |name: &&str| {
        let metric = metric_of(name);
        let mut manifests = runs.iter().filter_map(|run| run.manifest());
        registry.get(metric).is_none()
            && !manifests.any(|it| it.run.metrics.contains_key(metric))
            && !lower_is_better.iter().any(|it| it == name || it == metric)
    };
    let names = comparison.metrics.iter().map(|it| &*it.name);
    let unknown: IndexSet<&str> = names.filter(is_unknown).map(metric_of).collect();
    (!unknown.is_empty()).then(|| {
        let names = escape::names(unknown.into_iter());
        format!(
            "warning: the directions of {names} are unknown, so higher is assumed to be better; if lower is better, pass --lower-is-better NAME"
        )
    })
}

/// Returns the exit code for `--fail-if-worse`. A metric that is worse outweighs one that cannot be tested.
fn judge(comparison: &Comparison, args: &CompareArguments) -> Result<ExitCode> {
    for metric in comparison.worse() {
        let line = format!("B is worse: {}", metric.sentence());
        match args.github {
            true => annotate("compare", &line),
            false => print_error(line),
        }
    }
    let metrics = comparison.metrics.iter();
    let mut untested = metrics.filter_map(|it| untested(it, args.only_paired));
    let untested = untested.next().map(|first| {
        let more = match untested.count() {
            0 => String::new(),
            others => format!("; and {others} more cannot be tested"),
        };
        err!("--fail-if-worse: {first}{more}")
    });
    if comparison.worse().next().is_none() {
        return untested.map_or(Ok(ExitCode::SUCCESS), Err);
    }
    if let Some(error) = untested {
        print_error(format_args!("warning: {error}"));
    }
    Ok(ExitCode::FAILURE)
}

/// Returns the reason why this metric keeps `--fail-if-worse` from passing.
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
