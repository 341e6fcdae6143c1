//! `report`: writes result files as an HTML page. `results/html/` contains the page.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::compare::of_comparison;
use super::files::Files;
use super::from::{FromArgument, InputFile};
use super::options::{RunArguments, set};
use super::output::{CliError, Result, err};
use super::own_scores::OwnScoreArguments;
use crate::metrics::Registry;
use crate::results::{HtmlReport, ReportRun, ResultsError, ResultsErrorKind};

/// Write result files as one HTML page: scores, distributions, rows
///
/// Shows for each metric the score with its 95% interval and its denominators, the distribution, cost and time, and a
/// table of the rows that you can search, sort and filter. With two files, the rows are paired by id, and rows whose
/// verdict changed come first. The page is a single file that makes no requests.
///
/// The table has at most 20,000 rows. If there are more, it keeps those whose outcome or verdict changed, those that
/// failed, those with the worst scores, and a sample of the others; the page says how many of each it shows. Scores,
/// distributions and costs cover all rows.
///
/// The manifest, FILE.manifest.json, shows what was measured: program, metrics, judges, data, time and cost. If a
/// metric is not the same in both runs, the page shows how it differs instead of the difference between the scores,
/// unless --allow-different names the metric.
///
/// A result file contains gold rows and predictions only if it was written with `score --with-rows`,
/// or by `Evaluate` with a program.
///
/// Exit code: 0 on success; 2 for invalid usage or input.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// One file written by `score --out`, or two to compare: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "RESULTS", required = true)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    from: FromArgument,
    #[command(flatten)]
    own: OwnScoreArguments,
    /// The HTML file
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also show the scores grouped by this field: an attribute, or a dotted path, e.g. model or
    /// gold.topic
    #[arg(long, value_name = "FIELD")]
    group: Option<String>,
    #[command(flatten)]
    runs: RunArguments,
    /// Show the score difference for these metrics, separated by commas, even if they differ between the runs in
    /// version, parameter, threshold, judge, reported model or prompt
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_different: Vec<String>,
    /// Do not show the score difference for a metric if its code changed since the first run but its version did not,
    /// unless --allow-different names it; without this option, you just get a note
    #[arg(long)]
    strict_identity: bool,
    /// The title of the page; by default, the names of the files
    #[arg(long, value_name = "TITLE")]
    title: Option<String>,
}

/// Creates an error for a report, prefixed with the option that causes it.
fn of_report(error: ResultsError) -> CliError {
    match error.kind() {
        ResultsErrorKind::Output => err!("--out {error}"),
        _ => of_comparison(error),
    }
}

pub(super) fn run(registry: &Registry, args: &ReportArguments) -> Result<ExitCode> {
    let extension = args.out.extension();
    if !extension.is_some_and(|it| it.eq_ignore_ascii_case("html")) {
        let out = args.out.display();
        return Err(err!("--out {out}: unknown extension; expected .html"));
    }
    Files::new()
        .read("RESULTS", &args.results)
        .write("--out", Some(&args.out))
        .check()?;
    let needs_two = !args.allow_different.is_empty() || args.strict_identity;
    match args.results.len() {
        1 if needs_two => {
            return Err(err!(
                "--allow-different and --strict-identity need two result files to compare, found one"
            ));
        }
        1 | 2 => {}
        found => {
            return Err(err!(
                "expected one or two result files, found {found}; name two to compare them"
            ));
        }
    }
    let needs_ids = args.results.len() > 1;
    let open = |file| InputFile::open_scores(&args.own, args.from, file, needs_ids);
    let files = args.results.iter().map(open).collect::<Result<Vec<_>>>()?;
    let read = |file: &InputFile<'_>| {
        let run = ReportRun::read(file.named(), args.group.as_deref())
            .map_err(|error| args.from.advise(error.into(), &args.results))?;
        let failure_score = args.runs.failure_score;
        Ok(set(run, failure_score, ReportRun::with_failure_score))
    };
    let runs = files.iter().map(read).collect::<Result<Vec<_>>>()?;
    let metrics = runs.iter().flat_map(ReportRun::metrics);
    let mut report = HtmlReport::of_runs(&runs)
        .require_identity(args.runs.require_identity)
        .lower_is_better(args.runs.lower_is_better(registry, metrics))
        .allow_different(args.allow_different.iter().map(String::as_str))
        .strict_identity(args.strict_identity);
    report = set(report, args.group.as_ref(), HtmlReport::group);
    report = set(report, args.title.as_ref(), HtmlReport::title);
    report.write(&args.out).map_err(of_report)?;
    Ok(ExitCode::SUCCESS)
}
