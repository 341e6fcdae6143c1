//! The content of a manifest.
//!
//! The file is long because each field of a manifest is documented.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::judged_by::JudgedBy;
use super::partial::{EarlyResult, TruthResult};
use crate::contract::MetricIdentity;
use crate::data::DataFile;
use crate::json;
use crate::lm::CallTotals;
use crate::messages::{escape, hash};

/// The format version of result files, manifests and JSON output.
///
/// The format is described in `docs/schema`.
#[doc(hidden)]
pub const FORMAT: u32 = 1;

/// A record of what a run measured, and which metrics and data it used.
///
/// The manifest is written next to each result file as `FILE.manifest.json`. It is also part of the result in memory.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, metrics::F1, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
/// let evaluate = Evaluate::builder().metric(F1::default()).label("baseline").tag("prompt", "v2");
/// let manifest = evaluate.score([row]).await?.manifest;
/// assert_eq!(manifest.run.label.as_deref(), Some("baseline"));
/// assert_eq!(manifest.run.metrics["f1"], MetricIdentity::of::<Example, Prediction>(&F1::default()));
/// # Ok(())
/// # }
/// # use dsrs_metrics::contract::MetricIdentity;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The format version of the manifest, currently 1.
    pub format: u32,
    /// A record of what the run measured.
    ///
    /// The same inputs always give the same record.
    pub run: RunManifest,
    /// Information about the process that carried out the run.
    ///
    /// These values differ from run to run, even for the same inputs.
    ///
    /// This field is `None` if the manifest was read from a Parquet file's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessManifest>,
    /// The result file that the manifest describes.
    ///
    /// This is `None` for a result in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<DescribedFile>,
}

/// The part of a manifest that records what the run measured.
///
/// The same inputs always give the same record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunManifest {
    /// The [label](crate::EvaluateBuilder::label) of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The [tags](crate::EvaluateBuilder::tag) of the program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The identity of each metric, by name.
    ///
    /// The metrics are in the order you added them.
    pub metrics: IndexMap<String, MetricIdentity>,
    /// The models that each metric's judges used, as reported by the providers.
    ///
    /// The models are listed as in [`MetricSummary::judged_by`](crate::MetricSummary::judged_by). A metric has no entry
    /// if its providers reported no models.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub judged_by: IndexMap<String, Vec<JudgedBy>>,
    /// For each metric, the number of replies from models that [`judged_by`](Self::judged_by) does not list.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub judged_by_others: IndexMap<String, u64>,
    /// The files that the rows came from.
    ///
    /// This is empty if the rows were in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataFile>,
    /// The number of finished rows.
    pub rows: u64,
    /// `true` if any row is identified by its position.
    ///
    /// A comparison pairs these rows by position.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub positional_ids: bool,
    /// The number of rows on which the program or a metric failed.
    pub failed_rows: u64,
    /// The reason the run ended.
    ///
    /// This is `complete`, `max_errors`, `stopped`, `decided` or `output_failed`.
    pub ending: String,
    /// The number of times each row was evaluated, if [`repeats`](crate::EvaluateBuilder::repeats) was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// The score that a failed row contributes to a mean.
    pub failure_score: f64,
    /// The fields of a row that the program receives as inputs.
    ///
    /// Rows that declare their own inputs are not affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_inputs: Option<Vec<String>>,
    /// The field that rows are grouped by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The settings of a [`Scorer`](crate::scoring::Scorer).
    ///
    /// The settings are named `scorer.threshold`, `scorer.on_missing` and `scorer.aggregation`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The number of bootstrap samples, if intervals are bootstrapped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<u32>,
    /// The seed for the run's random numbers.
    ///
    /// The run uses this seed to bootstrap intervals and to draw samples. The seed also determines the order of rows in
    /// a run that can end early.
    pub seed: u64,
    /// The gates and their verdicts, if the run could end early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<EarlyResult>,
    /// The estimated means of the metrics that judged only a sample of the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub truth: Vec<TruthResult>,
    /// The version and features of the library that the run used.
    pub library: Library,
}

/// The version and features of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Library {
    /// The version of the library.
    pub version: String,
    /// The enabled Cargo features of the library.
    pub features: Vec<String>,
}

/// Information about the process that carried out a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProcessManifest {
    /// The time the run started, in UTC, such as `2026-11-26T08:00:00Z`.
    pub started: String,
    /// The duration of the run, in seconds.
    pub duration_s: f64,
    /// The git commit of the working directory, if it is in a git repository.
    ///
    /// The commit is recorded only if the run writes a result file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    /// The 128-bit XXH3 hash of the executable, in hexadecimal.
    ///
    /// Unlike the [fingerprint](dsrs_metrics_core::spec::MetricSpec::code) of a metric's code, the hash also covers the
    /// functions that the metric calls.
    ///
    /// This is `None` if the run writes no result file, or if the executable cannot be read or was built without
    /// optimizations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The tokens and cost of the program and the metrics.
    pub totals: RunCosts,
}

/// The tokens and cost of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunCosts {
    /// The cost of the metrics, in millisatoshis.
    pub metrics_cost_msats: u64,
    /// The program's cost in millisatoshis.
    ///
    /// This is `None` if the program reported no cost, or if the cost of any row is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_cost_msats: Option<u64>,
    /// The number of tokens in the program's prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_input_tokens: Option<u64>,
    /// The number of tokens in the models' replies to the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_output_tokens: Option<u64>,
    /// The number of calls to language models, with their tokens and cost.
    ///
    /// The totals include probes and calls for abandoned rows.
    ///
    /// This field is `None` if the run has no [ledger](crate::ModelSettings::ledger).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language_models: Option<CallTotals>,
}

/// The commit of a git repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GitCommit {
    /// The hash of the commit.
    ///
    /// This is `None` if the repository cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// `true` if committed files have been modified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_changed: Option<bool>,
    /// The reason the repository or its changes cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The result file that a manifest belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DescribedFile {
    /// The file's size in bytes.
    pub bytes: u64,
    /// The 128-bit XXH3 hash of the file's content, in hexadecimal.
    ///
    /// The hash detects accidental changes. It does not protect against deliberate ones, because anyone who changes the
    /// file can change the manifest too.
    pub xxh3: String,
}

/// The version and the features of this build.
impl Default for Library {
    fn default() -> Self {
        let features = [
            ("csv", cfg!(feature = "csv")),
            ("ctrl-c", cfg!(feature = "ctrl-c")),
            ("html", cfg!(feature = "html")),
            ("junit", cfg!(feature = "junit")),
            ("lm", cfg!(feature = "lm")),
            ("parquet", cfg!(feature = "parquet")),
            ("report", cfg!(feature = "report")),
        ];
        let enabled = features.into_iter().filter(|(_, is_enabled)| *is_enabled);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            features: enabled.map(|(name, _)| name.to_owned()).collect(),
        }
    }
}

impl RunManifest {
    /// Checks the strings that the caller chose.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(label) = &self.label {
            check_text("label", label)?;
        }
        for (name, value) in &self.tags {
            check_text("name of a tag", name)?;
            if !value.is_empty() {
                check_text("value of a tag", value)?;
            }
        }
        Ok(())
    }

    /// Returns the reference to this manifest that a result file contains.
    pub(crate) fn reference(&self) -> String {
        reference(&serde_json::to_value(self).unwrap_or_default())
    }
}

/// Formats the settings of a run except its metrics, on one line:
/// `baseline; prompt = v2; 8 rows of rows.jsonl (SHA-256 0123456789ab..); seed 0; dsrs-metrics 0.1.0`. Names are
/// escaped and shortened as in messages.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::{Evaluate, metrics::F1, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), dsrs_metrics::runs::EvaluateError> {
/// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
/// let result = Evaluate::builder().metric(F1::default()).label("baseline").statistics(|statistics| statistics.seed(7)).score([row]).await?;
/// let version = &result.manifest.run.library.version;
/// assert_eq!(result.manifest.run.to_string(), format!("baseline; 1 row; seed 7; dsrs-metrics {version}"));
/// # Ok(())
/// # }
/// ```
impl fmt::Display for RunManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(label) = &self.label {
            write!(f, "{}; ", escape::name(label))?;
        }
        for (name, value) in &self.tags {
            write!(f, "{} = {}; ", escape::name(name), escape::name(value))?;
        }
        write!(
            f,
            "{} {}",
            self.rows,
            if self.rows == 1 { "row" } else { "rows" }
        )?;
        for (number, file) in self.data.iter().enumerate() {
            f.write_str(if number == 0 { " of " } else { ", " })?;
            f.write_str(&escape::name(&file.name))?;
            if let Some(hash) = file.sha256.as_deref() {
                write!(f, " (SHA-256 {}..)", hash.get(..12).unwrap_or(hash))?;
            }
        }
        if self.positional_ids {
            f.write_str(", numbered by position")?;
        }
        if let Some(repeats) = self.repeats {
            write!(f, "; {repeats} repeats")?;
        }
        write!(
            f,
            "; seed {}; dsrs-metrics {}",
            self.seed,
            escape::name(&self.library.version)
        )
    }
}

/// Returns the reference to a run's manifest.
pub(super) fn reference(run: &Value) -> String {
    format!("{FORMAT}-{}", &canonical_hash(run)[..32])
}

/// Returns the hash of a JSON value, regardless of the order of its keys.
pub(crate) fn canonical_hash(value: &Value) -> String {
    hash::sha256(json::sorted(value).to_string().as_bytes())
}

/// The suffix that turns a result file's name into its manifest's name.
pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";

/// Returns the path of a result file's manifest.
///
/// The path is `FILE.manifest.json`.
///
/// ```
/// use std::path::Path;
///
/// use dsrs_metrics::results::manifest_path;
///
/// assert_eq!(manifest_path("runs/a.jsonl"), Path::new("runs/a.jsonl.manifest.json"));
/// ```
pub fn manifest_path(file: impl AsRef<Path>) -> PathBuf {
    let mut path = file.as_ref().as_os_str().to_owned();
    path.push(MANIFEST_SUFFIX);
    path.into()
}

/// The maximum length of a label, or of a tag's name or value, in bytes.
const MAX_LENGTH: usize = 1_000;

/// Turns another program's string into a valid label or tag: removes control characters and truncates it.
pub(crate) fn valid_text(text: &str) -> Option<String> {
    let printable = |found: char| if found.is_control() { ' ' } else { found };
    let mut text: String = text.chars().map(printable).collect();
    while text.len() > MAX_LENGTH {
        text.pop();
    }
    (!text.trim().is_empty()).then_some(text)
}

fn check_text(what: &'static str, value: &str) -> Result<(), String> {
    let reason = if value.trim().is_empty() {
        "expected at least one character that is not white space"
    } else if value.len() > MAX_LENGTH {
        "expected at most 1,000 bytes"
    } else if value.chars().any(char::is_control) {
        "expected no control characters"
    } else {
        return Ok(());
    };
    let value: String = value.chars().take(80).collect();
    Err(format!("invalid {what} {value:?}: {reason}"))
}
