//! The arguments of `rejudge`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{Param, RunOptions};
use crate::limit::Limit;
use crate::value_parsers::id_path;

/// Let another model judge the rows of a run, and compare both judges
///
/// Calls the model of --lm with the same rows and the judges of the run: the metrics that call a model, with the
/// parameters that the manifest of the run contains. The run must contain its rows: write it with `score --out FILE
/// --with-rows`. Prints the paired comparison of the run (A) with the new judge (B), as `compare`.
///
/// With --label it prints which judge is closer to the labels. Of labels that are verdicts, as for `agree`, the
/// number of rows is compared in which each judge is right (McNemar's exact test); of other numbers the mean absolute
/// difference between score and label (permutation test). Rows that lack a label, or a score of one of the judges, are left out.
///
/// Exit code: 0 on success; 1 if all rows failed, --max-errors was reached, or --budget did not cover all rows; 2 for
/// invalid usage or input; 130 after Ctrl-C, SIGTERM or SIGHUP.
#[derive(Debug, Args)]
pub(crate) struct RejudgeArguments {
    /// A file written by `score --out FILE --with-rows`, with its manifest
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,
    /// Only these judges of the run, separated by commas
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Set a parameter of a judge that the manifest does not contain
    #[arg(long = "param", value_name = "NAME.KEY=VALUE")]
    pub(super) params: Vec<Param>,
    /// Write the new run to a file, with its rows: .jsonl, .json, .csv or (feature `parquet`) .parquet
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// The attribute that contains the label, or a dotted path to it, such as gold.correct
    #[arg(long, value_name = "FIELD")]
    pub(super) label: Option<String>,
    /// Read the labels from this file, whose rows have the same ids
    #[arg(long, value_name = "DATA", requires = "label")]
    pub(super) labels: Option<PathBuf>,
    /// The column with the ids of the labels, or a dotted path to it; by default `id`
    #[arg(long = "map", value_name = "id=PATH", requires = "labels", value_parser = id_path)]
    pub(super) id: Option<String>,
    /// A score of at least this is a pass, or of at most this if lower is better: 0.6 or 60%
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        requires = "label"
    )]
    pub(super) threshold: Option<Limit>,
    /// The labels that mean a pass, separated by commas; every other label means a failure
    #[arg(long, value_name = "LABEL", value_delimiter = ',', requires = "label")]
    pub(super) positive: Vec<String>,
    /// The seed of the permutation test
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) options: RunOptions,
}
