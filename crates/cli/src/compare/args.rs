//! The arguments of `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::from::FromArgument;
use crate::runs::RunArguments;

/// Compare two runs over the same rows: what changed from A to B, and whether it is more than chance
///
/// Rows are paired by id. Prints for each metric: the means, the difference B - A with a 95%
/// interval (Tango's for pass or fail, otherwise Student's t, or Wilson's if most rows are equal), the
/// p-value, and the number of rows in which either run is better; also tokens, cost and latency of both
/// runs.
///
/// The test is McNemar's exact test for pass or fail, and otherwise the permutation test of paired
/// scores: all assignments of signs with up to 17 different scores, and 100,000 random ones beyond. With
/// more than 50,000 differences of similar size it is their normal limit, whose error near 0.05 is below 0.0006.
/// A score of all rows, such as macro F1, or NAME.corpus beside the mean of BLEU, is tested by
/// exchanging the results of rows between the runs: all ways with up to 13 different rows, and
/// 10,000 random ones beyond. Its interval is computed by a paired bootstrap. With several metrics that
/// can be tested, verdicts use p-values adjusted by Holm's method.
///
/// A failed row counts as the failure score, as in the headline of `score`. Rows that are gated,
/// skipped or abstained in a run are not compared, and counted.
///
/// What the runs measured is compared by their manifests, FILE.manifest.json. A metric with another
/// version, parameter, threshold, judge or prompt, or to whose judge another model replied as the
/// provider reports it, is not compared, unless --allow-different names it; other differences, such as a data file that changed, are named. Of a run without a manifest the
/// identity is unknown, and metrics are compared by their names, unless --require-identity is set.
///
/// Exit code: 0 on success; 1 if B is worse and --fail-if-worse is set; 2 for invalid usage or
/// input, if a metric is not compared since it differs, and if --fail-if-worse finds nothing worse but
/// cannot test a metric.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The first run, usually the older one: a file written by `score --out`, .jsonl, .json or
    /// .csv; `-` is standard input
    #[arg(value_name = "A")]
    pub(super) a: PathBuf,
    /// The second run, usually the newer one
    #[arg(value_name = "B")]
    pub(super) b: PathBuf,
    #[command(flatten)]
    pub(super) from: FromArgument,
    /// Compare only these metrics, separated by commas; NAME.PART is a named score or component of
    /// a metric, NAME.corpus its score of all rows
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Group the rows by an attribute, or by gold.FIELD: intervals and tests account for rows of a
    /// group that are alike, and each group is also compared on its own. A row without the field, or
    /// with null, is a group of its own
    #[arg(long, value_name = "FIELD")]
    pub(super) group: Option<String>,
    /// Compare the rows that both runs have, and leave out the others
    #[arg(long)]
    pub(super) only_paired: bool,
    #[command(flatten)]
    pub(super) runs: RunArguments,
    /// Compare these metrics, separated by commas, although they are not the same in both runs: another
    /// version, parameter, threshold, judge, reported model or prompt
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) allow_different: Vec<String>,
    /// The p-value of pass or fail, by McNemar's test: `exact`, or `mid`, which finds more differences and may exceed its
    /// level slightly
    #[arg(long, value_name = "KIND", value_enum, default_value_t = PValue::Exact)]
    pub(super) p: PValue,
    /// Do not compare a metric whose code changed since A, although its version did not, unless --allow-different names
    /// it; without this option, a note says so
    #[arg(long)]
    pub(super) strict_identity: bool,
    /// The seed of the permutation test and of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Exit with 1 if B is worse than A by any of the metrics: the mean is worse and the adjusted
    /// p-value is below 0.05. If none is worse, a metric that cannot be tested is an error: with too
    /// few rows for such a p-value, or rows with a score in only one run, unless --only-paired is set.
    /// Implies --require-identity
    #[arg(long)]
    pub(super) fail_if_worse: bool,
    /// Write the table and the sentences as Markdown, for the summary of a CI job; `-` prints it
    /// instead of the text
    #[arg(long, value_name = "FILE")]
    pub(super) markdown: Option<PathBuf>,
    /// Write each metric that is worse, and an error, such as a metric that cannot be tested, as an
    /// annotation of GitHub Actions, on standard error
    #[arg(long)]
    pub(super) github: bool,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
}

/// The p-value of McNemar's test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PValue {
    Exact,
    Mid,
}
