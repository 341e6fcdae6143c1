//! The arguments of the commands. The file is long because the doc comments are the text of `--help`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgGroup, Args};

use crate::agreement::{Agreement, AgreementBuilder, LabelSample};
use crate::contract::Direction;
use crate::data::{Conversion, DataReader, Encoding, Format, Join, Mapping, Missing};
use crate::from::FromArgument;
use crate::lm::parse_msats;
use crate::metrics::Registry;
use crate::options::{
    Limit, delimiter, embedder, error_rates, finite, id_path, metric_of, model, one_of, set, tag,
};
use crate::otlp::OtlpArguments;
use crate::output::{Result, err, print_error};
use crate::own_scores::OwnScore;
use crate::stats::ErrorRates;

/// List the metrics, one per line, or show the fields, score and parameters of the named metrics
#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Show the documentation, fields, score and parameters of these metrics
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// Print one JSON array with everything about each metric
    #[arg(long)]
    pub(super) json: bool,
}

/// Score rows of gold labels and predictions
///
/// A row is {"id": .., "gold": {..}, "pred": {..}}; other keys are kept as attributes. If a row has no id, its id is
/// its number in the file, counted from 1. In CSV, the columns are `id`, `gold.FIELD` and `pred.FIELD`. Use --map for
/// rows with a different structure.
///
/// A row is invalid input if it lacks a field that a metric requires, or if the metric cannot read the field's type.
/// Invalid input ends the run; with --max-errors, it counts as a failed row instead. If a metric fails on a row for any
/// other reason, the row always counts as failed.
///
/// Exit code: 0 on success; 1 if a metric is worse than its --fail-under, all rows failed, --max-errors was reached,
/// --budget did not cover all rows, or a panel lost a judge and its quorum does not allow that; 2 for invalid usage or
/// input; 130 after Ctrl-C, SIGTERM or SIGHUP, with the scores so far kept. The first Ctrl-C waits for the rows in
/// progress for up to the --grace time, the second abandons them, and the third ends the program immediately.
#[derive(Debug, Clone, Default, Args)]
#[command(group(ArgGroup::new("seeded").args(["bootstrap", "stop_when", "truth"]).multiple(true)))]
pub(super) struct ScoreArguments {
    /// Files of rows, or folders of them: .jsonl, .json, .csv, .tsv or (feature `parquet`) .parquet, also
    /// with .gz or .zst; `-` is standard input
    #[arg(value_name = "DATA", required_unless_present = "lines")]
    pub(super) data: Vec<PathBuf>,
    /// Read the gold rows from this file, and join them to the predictions in DATA by id
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub(super) gold: Option<PathBuf>,
    /// The columns used to join both files, if not `id`
    #[arg(long, value_name = "gold.PATH=pred.PATH", requires = "gold")]
    pub(super) join: Option<Join>,
    /// How to count a gold row without a prediction
    #[arg(long, value_name = "HOW", value_parser = one_of(MISSING), requires = "gold")]
    pub(super) missing: Option<Missing>,
    /// Two plain text files with the same number of lines: gold answers and predictions, line by line
    #[arg(
        long,
        num_args = 2,
        value_names = ["GOLD", "PRED"],
        conflicts_with_all = ["data", "gold", "join", "format", "from"]
    )]
    pub(super) lines: Vec<PathBuf>,
    /// The metrics, separated by commas; see `list`. With --from, the default is the scores in the file
    #[arg(
        short,
        long = "metric",
        value_name = "NAME",
        required_unless_present = "from",
        value_delimiter = ','
    )]
    pub(super) metrics: Vec<String>,
    /// Set a parameter of a metric
    #[arg(long = "param", value_name = "NAME.KEY=VALUE", requires = "metrics")]
    pub(super) params: Vec<Param>,
    /// Read a field from a path in the row, e.g. gold.answer=answers or pred.answer=choices.0.text.
    /// In a path, -1 is the last element of a list, "a.b" in quotes is one key, and JSON in a
    /// string is parsed. id=task,language is an id that spans several columns; repeat=trial says
    /// that rows with the same id are samples of one row
    #[arg(long = "map", value_name = "FIELD=PATH", requires = "metrics")]
    pub(super) mappings: Vec<Mapping>,
    /// Split a field into a list at this separator, e.g. gold.answer='|'
    #[arg(long, value_name = "FIELD=SEPARATOR", value_parser = Conversion::split)]
    pub(super) split: Vec<Conversion>,
    /// Read a field's numbers with a decimal comma, e.g. pred.score
    #[arg(long, value_name = "FIELD", value_parser = Conversion::decimal_comma)]
    pub(super) decimal_comma: Vec<Conversion>,
    #[command(flatten)]
    pub(super) files: FileArguments,
    #[command(flatten)]
    pub(super) from: FromArgument,
    /// Write the scores of every row to a file: .jsonl, .json, .csv or (feature `parquet`) .parquet; also write what
    /// was measured to FILE.manifest.json
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub(super) out: Option<PathBuf>,
    /// Also write the gold row and the prediction of each row to the file, e.g. for `report`
    #[arg(long, requires = "out")]
    pub(super) with_rows: bool,
    /// The name of the program that made the predictions, for the manifest of --out
    #[arg(long, value_name = "NAME", requires = "out")]
    pub(super) label: Option<String>,
    /// A property of the program that made the predictions, for the manifest of --out
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = tag, requires = "out")]
    pub(super) tags: Vec<(String, String)>,
    /// In CSV files, leave strings unchanged even if a spreadsheet would evaluate them as a formula: those that begin
    /// with =, +, -, @, a tab or a line break. By default, they get a leading apostrophe, which `score`, `agree`,
    /// `compare` and `report` remove again
    #[arg(long, requires = "out")]
    pub(super) raw_csv: bool,
    /// Write the rows as JUnit XML: a failure if the verdict is false, an error if the row failed;
    /// `-` prints it instead of the headlines
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub(super) junit: Option<PathBuf>,
    /// Write the headlines as a Markdown table, and the first 20 rows that do not pass, for the summary of a CI job;
    /// `-` prints both instead of the headlines
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub(super) markdown: Option<PathBuf>,
    /// Write a CSV table with a row for each metric: score, standard error, interval and counts; `-`
    /// prints it instead of the headlines
    #[arg(long, value_name = "FILE", requires = "metrics")]
    pub(super) summary: Option<PathBuf>,
    /// Write a GitHub Actions annotation to standard error for each limit that failed
    #[arg(long)]
    pub(super) github: bool,
    /// Print one JSON object, with unrounded numbers
    #[arg(long, requires = "metrics")]
    pub(super) json: bool,
    /// Exit with code 1 if the metric's score is worse than this: below it, or above it if lower is better. The score
    /// is in the metric's range; for a bool, that is [0, 1]: em=0.6 or em=60%. A metric that scored no row always
    /// counts as worse
    #[arg(long, value_name = "NAME=X", requires = "metrics")]
    pub(super) fail_under: Vec<MetricThreshold>,
    /// Stop as soon as every gate set with this option is decided: "polite >= 0.9", "lower(polite) >= 90%", "upper(wer)
    /// <= 0.2", "failed <= 0.02"; exit with code 1 if a gate fails. Rows are scored in a random order that depends on
    /// their ids and --seed. Without --alpha, the run continues until the scores of the remaining rows can no longer
    /// change a verdict
    #[arg(long, value_name = "GATE")]
    pub(super) stop_when: Vec<String>,
    /// The maximum probability that a verdict of --stop-when differs from the verdict over all rows, e.g. 0.01
    #[arg(long, value_name = "P", requires = "stop_when", value_parser = finite)]
    pub(super) alpha: Option<f64>,
    /// An expensive metric that judges only --sample rows, such as llm_judge; its mean over all rows is estimated from
    /// these rows and from the metric in --by. Which rows are judged depends on their ids and --seed
    #[arg(long, value_name = "NAME", requires_all = ["metrics", "sample"])]
    pub(super) truth: Option<String>,
    /// The number of rows that the --truth metric judges
    #[arg(long, value_name = "N", requires = "truth")]
    pub(super) sample: Option<u64>,
    /// Stratify the --truth sample by this metric's verdicts or scores
    #[arg(long, value_name = "NAME", requires = "truth")]
    pub(super) by: Option<String>,
    /// The score that a failed row counts as in the mean
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true,
        value_parser = finite
    )]
    pub(super) failure_score: f64,
    /// Evaluate every metric N times on each row, for judges whose replies vary. A row's score is the mean, and pass@N,
    /// pass^N and the consistency are printed
    #[arg(long, value_name = "N", requires = "metrics", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) repeats: Option<u32>,
    /// Add N repeats to the run in --out. The run's replies come from the store, and the intervals use all repeats
    #[arg(
        long,
        value_name = "N",
        requires = "out",
        conflicts_with = "repeats",
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub(super) more_repeats: Option<u32>,
    /// Group the rows by this field: gold.FIELD, pred.FIELD or a row attribute. Rows in a group are alike, such as
    /// questions about the same document, and standard errors and intervals take that into account
    #[arg(long, value_name = "FIELD")]
    pub(super) group: Option<String>,
    /// Compute intervals with a BCa bootstrap from N samples of the rows, instead of Wilson's and Student's t
    #[arg(long, value_name = "N", requires = "metrics", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(super) bootstrap: Option<u32>,
    /// The seed for the bootstrap, the order of rows with --stop-when, and the --truth sample
    #[arg(long, value_name = "N", default_value_t = 0, requires = "seeded")]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) otlp: OtlpArguments,
    #[command(flatten)]
    pub(super) options: RunOptions,
}

/// Options for commands that evaluate rows.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct RunOptions {
    /// The number of rows that are scored concurrently
    #[arg(
        long,
        value_name = "N",
        default_value_t = 32,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) concurrency: u32,
    /// Stop after this number of failed rows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_errors: Option<u64>,
    /// The time limit for all metrics on one row, e.g. 30s or 2min
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) timeout: Option<Duration>,
    /// How long the rows in progress can keep running after the first Ctrl-C, SIGTERM or SIGHUP
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        value_parser = humantime::parse_duration
    )]
    pub(super) grace: Duration,
    #[command(flatten)]
    pub(super) lm: LmArguments,
    /// Print neither progress nor warnings
    #[arg(short, long)]
    pub(super) quiet: bool,
}

impl RunOptions {
    /// Prints lines to standard error, unless `--quiet` is set.
    pub(super) fn warn(&self, lines: impl IntoIterator<Item = String>) {
        if !self.quiet {
            lines.into_iter().for_each(print_error);
        }
    }
}

/// Options for reading files of rows.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct FileArguments {
    /// The character that separates the columns in CSV files, e.g. ';' or tab; by default, it is detected from the
    /// header
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// The encoding of the files
    #[arg(long, value_name = "ENCODING", value_parser = one_of(ENCODINGS))]
    encoding: Option<Encoding>,
    /// Read the files in this format, regardless of their extensions; the default for standard input is jsonl
    #[arg(long, value_name = "FORMAT", value_parser = one_of(FORMATS))]
    pub(super) format: Option<Format>,
}

impl FileArguments {
    /// Returns an error if an option is set even though the command reads no file of rows.
    pub(super) fn check(&self, reads_rows: bool, needed: &str) -> Result<()> {
        let is_set = self.delimiter.is_some() || self.encoding.is_some() || self.format.is_some();
        match is_set && !reads_rows {
            true => Err(err!(
                "--delimiter, --encoding and --format need {needed}; remove them"
            )),
            false => Ok(()),
        }
    }

    /// Returns a reader configured with these options.
    pub(super) fn reader(&self) -> DataReader {
        let reader = DataReader::new().with_encoding(self.encoding.unwrap_or_default());
        let reader = set(reader, self.format, DataReader::with_format);
        set(reader, self.delimiter, DataReader::with_delimiter)
    }
}

/// The ways to count a gold row that has no prediction.
const MISSING: &[(Missing, &str, &str)] = &[
    (
        Missing::Fail,
        "fail",
        "Counts the row as failed, with --failure-score; the default",
    ),
    (Missing::Skip, "skip", "Leaves the row out"),
];

/// The encodings for files of rows.
const ENCODINGS: &[(Encoding, &str, &str)] = &[
    (Encoding::Utf8, "utf-8", "The default"),
    (
        Encoding::Utf16,
        "utf-16",
        "With or without a byte order mark",
    ),
    (
        Encoding::Windows1252,
        "windows-1252",
        "What Excel writes in Western Europe",
    ),
];

/// The formats for files of rows.
const FORMATS: &[(Format, &str, &str)] = &[
    (Format::Jsonl, "jsonl", "One object per line"),
    (
        Format::Json,
        "json",
        "An array of objects, several objects, or an object that maps ids to rows",
    ),
    (
        Format::Csv,
        "csv",
        "A header of column names, then one record per row",
    ),
    #[cfg(feature = "parquet")]
    (
        Format::Parquet,
        "parquet",
        "Typed columns, named like CSV columns",
    ),
    (Format::Text, "text", "One value per line"),
];

/// The language model for judges and the embedding model for metrics, with their budget and store.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct LmArguments {
    /// The language model for judges, e.g. openai:gpt-6-luna; the default is the one in DSRS_LM
    #[arg(long, value_name = "PROVIDER:MODEL", value_parser = model)]
    pub(super) lm: Option<String>,
    /// The embedding model for semantic_similarity, e.g. openai:text-embedding-3-small, or static:FOLDER for vectors in
    /// a folder; the default is the one in DSRS_EMBED
    #[arg(long, value_name = "MODEL", value_parser = embedder)]
    pub(super) embed: Option<String>,
    /// Call no model: judges score by token overlap if they can, and every output is marked. If neither a model nor
    /// this option is set, a judge causes an error before the first row
    #[arg(long, conflicts_with = "lm")]
    pub(super) offline: bool,
    /// The maximum total cost of all judge calls, e.g. "0.05 usd" or "5000 msat". Rows that the budget does not cover
    /// are skipped. A dollar is 1,000,000 msat unless DSRS_MSATS_PER_USD is set
    #[arg(long, value_name = "MONEY", value_parser = parse_msats)]
    pub(super) budget: Option<u64>,
    /// Even with --budget, call models that have no known price, and count them as free
    #[arg(long, requires = "budget")]
    pub(super) allow_unpriced: bool,
    /// The folder of the store, which keeps what was paid for: model replies, and scores that cost something. The
    /// default is DSRS_STORE, or the user's cache folder
    #[arg(long, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,
    /// Neither read nor store results
    #[arg(long, conflicts_with_all = ["store", "refresh"])]
    pub(super) no_store: bool,
    /// Pay again for results that are in the store, and replace them there
    #[arg(long)]
    pub(super) refresh: bool,
    /// Print how many language model calls the run would make, the maximum that they can cost, and what the store
    /// covers. No call is made, nothing is scored or written, and no API key is needed
    #[arg(long)]
    pub(super) estimate: bool,
}

/// The ways to choose labelled rows.
const LABEL_SAMPLES: [(LabelSample, &str, &str); 2] = [
    (LabelSample::Random, "random", "A random sample of all rows"),
    (
        LabelSample::ByVerdict,
        "by-verdict",
        "Chosen by the metric's verdict, such as all failed rows",
    ),
];

/// Compare the metrics in a result file with labels
///
/// Prints for each metric: accuracy, Cohen's kappa (also with linear and quadratic weights), Spearman's correlation,
/// the confusion matrix, and the share of passes corrected using the labels, each with its number of rows and a 95%
/// interval. Rows without a score or label are counted.
///
/// A label is a bool, a number or a string. Labels are verdicts if they are bools, 0 and 1, or pairs of words such as
/// yes and no, pass and fail, or correct and incorrect. If you have other labels, name the passing ones with
/// --positive.
///
/// Exit code: 0 on success; 2 for invalid usage or input.
#[derive(Debug, Args)]
pub(super) struct AgreeArguments {
    /// A file written by `score --out`: .jsonl, .json or .csv; `-` is standard input
    #[arg(value_name = "RESULTS")]
    pub(super) results: PathBuf,
    #[command(flatten)]
    pub(super) from: FromArgument,
    /// Read this column or path of the rows as a score that another program computed, e.g. faithfulness=faithfulness or
    /// stars=rating:1..5. RESULTS is then a file of rows in any format
    #[arg(
        long = "score",
        value_name = "NAME=PATH[:lower][:MIN..MAX]",
        conflicts_with = "from"
    )]
    pub(super) scores: Vec<OwnScore>,
    /// The attribute that contains the label, or a dotted path to it
    #[arg(long, value_name = "FIELD")]
    pub(super) label: String,
    #[command(flatten)]
    pub(super) labels: LabelArguments,
    /// The column that contains the labels' ids, or a dotted path to it; by default `id`. With --score, the column of
    /// the ids in both files
    #[arg(long = "map", value_name = "id=PATH", value_parser = id_path)]
    pub(super) id: Option<Mapping>,
    /// Compare only these metrics, separated by commas; NAME.PART is a metric's part, component or metadata entry
    #[arg(short, long = "metric", value_name = "NAME", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// All classes in ascending order, separated by commas, e.g. 1,2,3,4,5 or bad,fair,good
    #[arg(
        long,
        value_name = "CLASS",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(super) scale: Vec<String>,
    /// How the labelled rows were chosen, if known
    #[arg(long, value_name = "HOW", value_parser = one_of(&LABEL_SAMPLES))]
    pub(super) label_sample: Option<LabelSample>,
    /// Correct the share of passes using error rates measured on other rows instead of the labels: how many of the rows
    /// that should pass passed, and how many of those that should fail failed
    #[arg(long, value_name = "sensitivity=K/N,specificity=K/N", value_parser = error_rates)]
    pub(super) error_rates: Option<ErrorRates>,
    /// Also name N rows without a label: those whose labels would narrow the interval of `passed, corrected` most.
    /// Among rows with the same verdict, they are chosen at random, based on their ids and the seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) next: Option<u32>,
    /// Exit with code 2 if the results have no manifest, because it is then unknown what was measured
    #[arg(long)]
    pub(super) require_identity: bool,
    /// Exit with code 2 if a metric's code in this program differs from the code that scored the results, even though
    /// its version is the same; without this option, you just get a note
    #[arg(long)]
    pub(super) strict_identity: bool,
    /// The seed for the bootstrap and --next
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Print one JSON object, with unrounded numbers
    #[arg(long)]
    pub(super) json: bool,
}

/// The labels that `agree` and `rejudge` compare scores with.
#[derive(Debug, Args)]
pub(super) struct LabelArguments {
    /// Read the labels from this file, whose rows have the same ids
    #[arg(long = "labels", value_name = "DATA", requires = "label")]
    pub(super) file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) files: FileArguments,
    /// A score passes if it is at least this value, or at most this value if lower is better: 0.6 or 60%
    #[arg(
        long,
        value_name = "X",
        allow_negative_numbers = true,
        requires = "label"
    )]
    threshold: Option<Limit>,
    /// The labels that mean a pass, separated by commas; every other label means a failure
    #[arg(long, value_name = "LABEL", value_delimiter = ',', requires = "label")]
    positive: Vec<String>,
}

impl LabelArguments {
    /// Returns `--threshold` as a score.
    pub(super) fn threshold(&self) -> Option<f64> {
        self.threshold.as_ref().map(|it| it.score)
    }

    /// Starts a comparison between a metric's scores and labels.
    pub(super) fn agreement(
        &self,
        registry: &Registry,
        metric: &str,
        direction: Option<Direction>,
    ) -> Result<AgreementBuilder> {
        let builder = Agreement::builder()
            .lower_is_better(direction == Some(Direction::LowerIsBetter))
            .positive(self.positive.clone());
        let Some(threshold) = &self.threshold else {
            return Ok(builder);
        };
        let range = registry.get(metric).and_then(|entry| entry.spec().range);
        threshold.check("--threshold ", metric, range, range)?;
        Ok(builder.threshold(threshold.score))
    }
}

/// A `NAME.KEY=VALUE` argument.
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
        let (metric, key, value) =
            parts.ok_or("expected NAME.KEY=VALUE, as in f1.profile=folded")?;
        Ok(Self {
            metric: metric.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// A `NAME=X` or `NAME.PART=X` argument.
#[derive(Debug, Clone)]
pub(super) struct MetricThreshold {
    /// The metric, or the metric and one of its parts.
    pub(super) name: String,
    pub(super) limit: Limit,
}

impl MetricThreshold {
    /// Returns the metric, without the part.
    pub(super) fn metric(&self) -> &str {
        metric_of(&self.name)
    }
}

impl FromStr for MetricThreshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, limit) = text
            .split_once('=')
            .ok_or("expected NAME=X, as in f1=0.8")?;
        Ok(Self {
            name: name.to_owned(),
            limit: limit.parse()?,
        })
    }
}
