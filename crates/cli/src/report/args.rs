//! The arguments of `report`.

use std::path::PathBuf;

use clap::Args;

use crate::from::FromArgument;
use crate::runs::RunArguments;

/// Write result files as one HTML page: scores, distributions, rows
///
/// Shows for each metric the score with its 95% interval and its denominators, the distribution, cost
/// and time, and a table of the rows to search, sort and filter. With two files the rows are paired by
/// id, and rows whose verdict changed come first. The page is one file that makes no request.
///
/// The table has at most 20,000 rows. Of more, it has those whose outcome or verdict changed, those that
/// failed, those with the worst scores, and a sample of the others; the page states how many of each.
/// Scores, distributions and costs are of all rows.
///
/// What was measured is shown by the manifest, FILE.manifest.json: program, metrics, judges, data, time and
/// cost. A metric that is not the same in both runs is shown with what differs, and without its difference,
/// unless --allow-different names it.
///
/// A result file contains gold rows and predictions only if it was written with `score --with-rows`,
/// or by `Evaluate` with a program.
///
/// Exit code: 0 on success; 2 for invalid usage or input.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// One file written by `score --out`, or two to compare: .jsonl, .json or .csv; `-` is standard
    /// input
    #[arg(value_name = "RESULTS", required = true)]
    pub(super) results: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) from: FromArgument,
    /// The HTML file
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,
    /// Show the scores by this field too: an attribute, or a dotted path, e.g. model or gold.topic
    #[arg(long, value_name = "FIELD")]
    pub(super) group: Option<String>,
    #[command(flatten)]
    pub(super) runs: RunArguments,
    /// Show the difference of these metrics, separated by commas, although they are not the same in both
    /// runs: another version, parameter, threshold, judge, reported model or prompt
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) allow_different: Vec<String>,
    /// Do not show the difference of a metric whose code changed since the first run, although its version did not, unless
    /// --allow-different names it; without this option, a note says so
    #[arg(long)]
    pub(super) strict_identity: bool,
    /// The title of the page; the default is the names of the files
    #[arg(long, value_name = "TITLE")]
    pub(super) title: Option<String>,
}
