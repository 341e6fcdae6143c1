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
    Agree(AgreeArguments),
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
/// id is called by its line, or its number in a JSON array. In CSV the columns are `id`, `gold.FIELD`, `pred.FIELD`. Rows of other
/// shapes are mapped with --map.
///
/// A row that lacks a field which a metric requires, or has it in a type that the metric cannot read,
/// is bad input and ends the run, unless --max-errors is given: then it is a failed row. A metric
/// that fails on a row for another reason always gives a failed row.
///
/// Exit code: 0 done; 1 a metric is worse than its --fail-under, --max-errors was reached, or --budget did
/// not cover all rows; 2 bad usage or bad input; 130 stopped by Ctrl-C, what was done is kept.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Files of rows: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "DATA", required = true)]
    pub(super) data: Vec<PathBuf>,
    /// The metrics, separated by commas; `list` shows them
    #[arg(short, long = "metric", value_name = "NAME", required = true, value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Configure a metric
    #[arg(long = "param", value_name = "NAME.KEY=VALUE")]
    pub(super) params: Vec<Param>,
    /// Where a field stands in the row, e.g. gold.answer=answers or pred.answer=choices.0.text
    #[arg(long = "map", value_name = "FIELD=PATH")]
    pub(super) mappings: Vec<Mapping>,
    /// Read all DATA in this format, whatever the extensions; standard input is jsonl by default
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,
    /// Write the scores of every row to a file: .jsonl, .json or .csv
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
    /// Exit with 1 if the metric's score is worse than this: below it, or above it where lower is
    /// better. In the unit of the score: percent for bool metrics, else the mean. A metric that
    /// scored no row is worse than anything
    #[arg(long, value_name = "NAME=X")]
    pub(super) fail_under: Vec<Limit>,
    /// How many rows are worked on at once
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub(super) concurrency: usize,
    /// Stop once so many rows have failed
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
    #[command(flatten)]
    pub(super) lm: LmArguments,
    /// Print neither progress nor warnings
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Which language model judges ask, and what that may cost.
#[derive(Debug, Clone, Args)]
pub(super) struct LmArguments {
    /// The language model that judges ask, e.g. openai:gpt-5-mini; instead of that in DSRS_LM
    #[arg(long, value_name = "PROVIDER:MODEL", value_parser = model)]
    pub(super) lm: Option<String>,
    /// The most that the judges' calls may cost together, e.g. "100 sat" or "5000 msat"; a dollar is 1,000,000
    /// msat, unless DSRS_MSATS_PER_USD says otherwise. Rows that it does not cover are skipped
    #[arg(long, value_name = "MONEY", value_parser = money)]
    pub(super) budget: Option<u64>,
    /// Ask models without a price too, although there is a budget; for it they count as free
    #[arg(long, requires = "budget")]
    pub(super) allow_unpriced: bool,
    /// Neither read nor keep replies of language models
    #[arg(long, conflicts_with = "refresh")]
    pub(super) no_cache: bool,
    /// Ask for all replies of language models anew, and keep them instead of the old ones
    #[arg(long)]
    pub(super) refresh: bool,
}

/// Hold the metrics of a result file against labels
///
/// For each metric: accuracy, Cohen's kappa (also with linear and quadratic weights), Spearman's
/// correlation, the confusion matrix, and the share of passes corrected for the metric's error rates,
/// each with the rows it stands on and a 95% interval. Rows without score or label are counted.
///
/// A label is a bool, a number or text. 0 and 1, and pairs such as yes and no, pass and fail, correct and
/// incorrect are verdicts, as bools are; what other labels are a pass is said with --positive.
///
/// Exit code: 0 done; 2 bad usage or bad input.
#[derive(Debug, Args)]
pub(super) struct AgreeArguments {
    /// What `score --out` wrote: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "RESULTS")]
    pub(super) results: PathBuf,
    /// The attribute that holds the label, or a dotted path to it
    #[arg(long, value_name = "FIELD")]
    pub(super) label: String,
    /// Take the labels from this file, whose rows have the same ids
    #[arg(long, value_name = "DATA")]
    pub(super) labels: Option<PathBuf>,
    /// Only these metrics, separated by commas; NAME.PART is a part, component or metadata of one
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// A score of at least this is a pass; at most this for a metric of which lower is better
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = finite)]
    pub(super) threshold: Option<f64>,
    /// The labels that are a pass, separated by commas; all others are none
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub(super) positive: Vec<String>,
    /// All classes in ascending order, separated by commas, e.g. 1,2,3,4,5 or bad,fair,good
    #[arg(long, value_name = "CLASS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(super) scale: Vec<String>,
    /// Where the random numbers of the bootstrap begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
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

/// A variable of the shell that is not set gives an empty name, and nobody means the offline judge by that.
fn model(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("write provider:model, as in openai:gpt-5-mini"),
        id => Ok(id.to_owned()),
    }
}

/// `5000 msat` or `5 sat`, in millisatoshis.
fn money(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let per_unit = match unit {
        "msat" | "msats" => 1,
        "sat" | "sats" => 1000,
        _ => return Err("write a whole number of msat or sat, as in \"5000 msat\"".to_owned()),
    };
    let msats = number.parse::<u64>().ok().and_then(|number| number.checked_mul(per_unit));
    msats.ok_or_else(|| format!("`{text}` is no whole number of msat that fits into 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::money;

    #[test]
    fn money_has_a_unit() {
        assert_eq!(["5000 msat", "5sat", "1_000 msats"].map(money), [Ok(5000), Ok(5000), Ok(1000)]);
        for wrong in ["5000", "-1 msat", "0.5 sat", "5 USD", ""] {
            assert!(money(wrong).unwrap_err().contains("\"5000 msat\""), "{wrong}");
        }
        assert!(money("99999999999999999999 msat").unwrap_err().contains("64 bits"));
    }
}
