//! What a user may type. Only what works is here.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::data::{Format, Mapping};

/// Scores the predictions of programs built on language models.
#[derive(Debug, Parser)]
#[command(name = "dsrs-metrics", version, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    List(ListArguments),
    Score(ScoreArguments),
}

/// Show the metrics: what they read, what they return, how they are configured
#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Only these metrics, with their whole documentation
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// Print one JSON array
    #[arg(long)]
    pub(super) json: bool,
}

/// Score rows of predictions and labels
///
/// A row is {"id": .., "gold": {..}, "pred": {..}}; other keys are kept as attributes. A row without
/// id is called by its line. In CSV the columns are `id`, `gold.FIELD`, `pred.FIELD`. Rows of other
/// shapes are mapped with --map.
///
/// A row that lacks a field which a metric requires, or has it in a type that the metric cannot read,
/// is bad input and ends the run, unless --max-errors is given: then it is a failed row. A metric
/// that fails on a row for another reason always gives a failed row.
///
/// Exit code: 0 done; 1 a metric is worse than its --fail-under, or --max-errors was reached; 2 bad
/// usage or bad input; 130 stopped by Ctrl-C, what was done is kept.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Files of rows: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    pub(super) data: Vec<PathBuf>,
    /// The metrics, separated by commas; `list` shows them
    #[arg(short, long = "metric", value_name = "NAME", required = true, value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Configures a metric
    #[arg(long = "param", value_name = "NAME.KEY=VALUE")]
    pub(super) params: Vec<Param>,
    /// Where a field stands in the row, e.g. gold.answer=answers or pred.answer=choices.0.text
    #[arg(long = "map", value_name = "FIELD=PATH")]
    pub(super) mappings: Vec<Mapping>,
    /// Reads all DATA in this format, whatever the extensions; standard input is jsonl by default
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,
    /// Writes the scores of every row: .jsonl, .json or .csv
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
    /// Exits with 1 if the metric's score is worse than this: below it, or above it where lower is
    /// better. In the unit of the score: percent for bool metrics, else the mean. A metric that
    /// scored no row is worse than anything
    #[arg(long, value_name = "NAME=X")]
    pub(super) fail_under: Vec<Limit>,
    /// How many rows are worked on at once
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(super) concurrency: usize,
    /// Stops once so many rows have failed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_errors: Option<u64>,
    /// What a failed row counts as in the mean
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        value_parser = finite
    )]
    pub(super) failure_score: f64,
    /// How long the metrics may take for one row, e.g. 30s or 2min
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) timeout: Option<Duration>,
    /// Prints neither progress nor warnings
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// `NAME.KEY=VALUE`
#[derive(Debug, Clone)]
pub(super) struct Param {
    pub(super) metric: String,
    pub(super) key: String,
    pub(super) value: String,
}

impl FromStr for Param {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('=').and_then(|(name, value)| {
            let (metric, key) = name.split_once('.')?;
            (!metric.is_empty() && !key.is_empty()).then_some((metric, key, value))
        });
        let (metric, key, value) = parts.ok_or("write NAME.KEY=VALUE, as in f1.threshold=0.8")?;
        Ok(Self { metric: metric.to_owned(), key: key.to_owned(), value: value.to_owned() })
    }
}

/// `NAME=X`
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) metric: String,
    pub(super) score: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (metric, score) = text.split_once('=').ok_or("write NAME=X, as in f1=0.8")?;
        Ok(Self { metric: metric.to_owned(), score: finite(score)? })
    }
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{text}` is not a finite number")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("a timeout of zero fails every row".to_owned()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}
