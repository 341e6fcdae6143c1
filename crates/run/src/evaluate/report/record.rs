//! The record of a row in result files. Every format is written from it, and every reader returns it.
//!
//! `line.rs` writes a record as JSON, and `columns.rs` splits it into columns for CSV and Parquet. Serde reads it from
//! JSON, and `results/parse.rs` from every format. The report shows it.
//!
//! The file is long because reading, completing and writing one row have to agree.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::contract::score::{OFFLINE_JUDGE, corpus};
use crate::contract::{Component, Counted, Fields, Origin, Outcome, ProgramRun, RepliedBy, Scored};
use crate::data::{Key, parse_hash, row_hash};
use crate::evaluate::row::RowResult;
use crate::json::path;
use crate::json::read::{UniqueKeys, unique_entries};

/// One row of a result file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ResultRow {
    /// The row's id, unique within its file.
    pub id: String,
    /// The location of the row in the scored data.
    ///
    /// If the row was read from a result file, this is its location in that file.
    #[serde(skip)]
    pub origin: Option<Origin>,
    /// The gold row.
    ///
    /// This is `None` if the file has no gold rows. Fields read from a CSV file are strings.
    #[serde(default, deserialize_with = "any_value")]
    pub gold: Option<Value>,
    /// The prediction.
    ///
    /// This is `None` if the file has no predictions, or if the program failed.
    #[serde(default, deserialize_with = "any_value")]
    pub pred: Option<Value>,
    /// Additional fields of the scored row.
    #[serde(default, deserialize_with = "unique_entries")]
    pub attributes: Fields,
    /// The program's latency in seconds, as returned by the program.
    pub latency_s: Option<f64>,
    /// The number of tokens in the program's prompts.
    pub input_tokens: Option<u64>,
    /// The number of tokens in the models' replies to the program.
    pub output_tokens: Option<u64>,
    /// The program's cost in millisatoshis, excluding the cost of the metrics.
    pub cost_msats: Option<u64>,
    /// The backtraces of panics, if they were recorded.
    pub traceback: Option<String>,
    /// The hash of the gold row, which is the same in every format. This is `None` if there is no gold row, or if an
    /// earlier version wrote the file.
    #[serde(default, deserialize_with = "hash")]
    pub(crate) gold_hash: Option<u64>,
    /// The hash of the prediction. This is `None` if there is no prediction, or if an earlier version wrote the file.
    #[serde(default, deserialize_with = "hash")]
    pub(crate) pred_hash: Option<u64>,
    /// `true` if the row is identified by its position.
    ///
    /// In that case, the data has no id for the row.
    #[serde(default, rename = "positional")]
    pub is_positional: bool,
    /// A reference to the manifest of the file.
    ///
    /// Only the last row of a file contains this reference.
    #[doc(hidden)]
    pub manifest: Option<String>,
    /// The result of each metric, in file order.
    #[serde(deserialize_with = "unique_entries")]
    pub scores: IndexMap<String, ResultScore>,
    /// The scores of the repeats. Reading a row computes the shares from them and leaves this list empty.
    #[serde(default)]
    pub(crate) repeats: Vec<RepeatScores>,
    /// `true` if the file format has columns, like CSV.
    ///
    /// In a format with columns, an absent value is null, and all numbers in a column have the same type.
    #[doc(hidden)]
    #[serde(skip)]
    pub is_flat: bool,
}

/// The scores of a repeat.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct RepeatScores {
    #[serde(deserialize_with = "unique_entries")]
    scores: IndexMap<String, RepeatScore>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct RepeatScore {
    value: Option<f64>,
    passed: Option<bool>,
}

/// Reads a gold row or prediction of any type. Returns `None` if it has no fields.
fn any_value<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    let value = Option::<UniqueKeys>::deserialize(from)?.map(|UniqueKeys(value)| value);
    Ok(value.filter(|value| value.as_object().is_none_or(|fields| !fields.is_empty())))
}

fn hash<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let text = Option::<Key<'_>>::deserialize(from)?;
    let hash = |Key(text)| parse_hash(&text).ok_or_else(|| D::Error::custom("not a hash"));
    text.map(hash).transpose()
}

/// A metric's result for one row.
///
/// The metric can also be a component of a composite metric.
///
/// The serialized form is the same as in result files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResultScore {
    /// The outcome of the metric, such as scored or failed.
    pub outcome: ResultOutcome,
    /// The score, which is always finite.
    ///
    /// This is `None` unless the outcome is [`Scored`](ResultOutcome::Scored).
    pub value: Option<f64>,
    /// The verdict, if the metric has one.
    pub passed: Option<bool>,
    /// The metric's confidence, in [0, 1].
    pub confidence: Option<f64>,
    /// The explanation that the metric gave for the score.
    pub details: Option<String>,
    /// The feedback for an optimizer.
    pub feedback: Option<String>,
    /// The cost of the call, in millisatoshis.
    #[serde(default)]
    pub cost_msats: u64,
    /// The fields that the metric reads but the prediction lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The error message, if the row failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The metric that rejected the row, if the row was gated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gated_by: Option<String>,
    /// The budget in millisatoshis, if it did not cover the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_msats: Option<u64>,
    /// The row's probability of being drawn into the sample, or `None` if the row was drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The named scores of the metric, such as `precision`.
    #[serde(
        default,
        deserialize_with = "unique_entries",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub parts: IndexMap<String, f64>,
    /// Additional values that the metric returned, such as a judge's reasoning.
    ///
    /// The values can have any type.
    #[serde(
        default,
        deserialize_with = "unique_entries",
        skip_serializing_if = "Map::is_empty"
    )]
    pub metadata: Map<String, Value>,
    /// The results of the components of a composite metric.
    #[serde(
        default,
        deserialize_with = "unique_entries",
        skip_serializing_if = "IndexMap::is_empty"
    )]
    pub components: IndexMap<String, ResultScore>,
    /// The row's contribution to the score over all rows. `compare` uses it to compute that score again. Only a metric
    /// has a contribution, not a component. Contributions of user-defined types are not written.
    #[serde(
        default,
        deserialize_with = "restored",
        serialize_with = "recorded",
        skip_serializing_if = "has_no_record"
    )]
    pub(crate) corpus: Option<Counted>,
    /// `true` if the value is the mean of repeats that each pass or fail. Baselines contain this instead of the
    /// repeats.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_share: bool,
    /// `true` if an offline judge scored the row without a language model.
    ///
    /// This also applies to the judges of the metric's components.
    #[serde(skip)]
    pub is_judged_offline: bool,
}

/// A metric's outcome for a row.
///
/// The variants have the same names as those of [`Outcome`](dsrs_metrics_core::Outcome).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultOutcome {
    /// The metric returned a score.
    Scored,
    /// The row has no score of its own.
    ///
    /// The row contributes to the metric's corpus score instead.
    Counted,
    /// A cheaper metric rejected the row.
    Gated,
    /// The budget did not cover the call.
    Skipped,
    /// The metric abstained.
    Abstained,
    /// The gates of the run were decided before this row was evaluated.
    NotNeeded,
    /// The row is not in the sample that the metric judges.
    NotSampled,
    /// The metric failed.
    MetricFailed,
    /// The program failed.
    ProgramFailed,
}

impl ResultOutcome {
    /// Returns the outcome's name in snake case, as in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Counted => "counted",
            Self::Gated => "gated",
            Self::Skipped => "skipped",
            Self::Abstained => "abstained",
            Self::NotNeeded => "not_needed",
            Self::NotSampled => "not_sampled",
            Self::MetricFailed => "metric_failed",
            Self::ProgramFailed => "program_failed",
        }
    }

    /// Returns `true` if the metric or the program failed.
    ///
    /// A failed row contributes the failure score to the mean.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::MetricFailed | Self::ProgramFailed)
    }
}

impl From<&Outcome> for ResultOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Scored(_) => Self::Scored,
            Outcome::Counted(_) => Self::Counted,
            Outcome::Gated { .. } => Self::Gated,
            Outcome::Skipped { .. } => Self::Skipped,
            Outcome::Abstained => Self::Abstained,
            Outcome::NotNeeded => Self::NotNeeded,
            Outcome::NotSampled { .. } => Self::NotSampled,
            Outcome::MetricFailed { .. } => Self::MetricFailed,
            Outcome::ProgramFailed { .. } => Self::ProgramFailed,
        }
    }
}

impl fmt::Display for ResultOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ResultRow {
    /// Reads a row from JSON that has only the keys of a row, each at most once.
    ///
    /// # Errors
    /// Returns a [`serde_json::Error`] if the row or one of its scores is invalid.
    pub(crate) fn of_json(text: &str) -> serde_json::Result<Box<Self>> {
        let mut row: Box<Self> = serde_json::from_str(text)?;
        let invalid = |reason| serde_json::Error::custom(reason);
        if row.id.is_empty() {
            return Err(invalid("an empty id"));
        }
        for score in row.scores.values_mut() {
            score.finish().map_err(|_| invalid("an invalid score"))?;
        }
        row.complete();
        Ok(row)
    }

    /// Completes a row that was read: computes shares from its repeats, and the hash of its gold row if an earlier
    /// version wrote none.
    pub(crate) fn complete(&mut self) {
        let repeats = std::mem::take(&mut self.repeats);
        for (name, score) in self.scores.iter_mut().filter(|_| !repeats.is_empty()) {
            let scores = repeats.iter().filter_map(|it| it.scores.get(name));
            score.is_share =
                score.value.is_some() && are_verdicts(scores.map(|it| (it.value, it.passed)));
        }
        let gold = self.gold.as_ref();
        self.gold_hash = self.gold_hash.or_else(|| row_hash(gold?));
        self.manifest.take_if(|it| it.is_empty());
    }

    /// Returns the value of a field.
    ///
    /// The field is an attribute, `gold.FIELD` or `pred.FIELD`. The field name can be a path into objects and lists.
    /// Values read from a CSV file are strings.
    pub fn field(&self, field: &str) -> Option<&Value> {
        let side = match field.split_once('.') {
            Some(("gold", field)) => self.gold.as_ref().map(|gold| (gold, field)),
            Some(("pred", field)) => self.pred.as_ref().map(|pred| (pred, field)),
            _ => None,
        };
        path::find(field, |name| self.attributes.get(name)).or_else(|| {
            let (side, path) = side?;
            side.get(path).or_else(|| path::below(side, path))
        })
    }

    /// Drops the metrics' explanations and feedback.
    #[doc(hidden)]
    pub fn drop_texts(&mut self) {
        for score in self.scores.values_mut() {
            (score.details, score.feedback) = (None, None);
        }
    }

    /// Returns the hash of the prediction.
    ///
    /// Returns `None` if there is no prediction, or if an earlier version of the library wrote the file.
    #[doc(hidden)]
    pub fn pred_hash(&self) -> Option<u64> {
        self.pred_hash
    }

    /// Returns the location of the row, for error messages.
    #[doc(hidden)]
    pub fn at(&self) -> Origin {
        let unknown = || Origin {
            file: Path::new("evaluation").into(),
            line: 0,
        };
        self.origin.clone().unwrap_or_else(unknown)
    }

    /// Creates the record of a row in memory. It includes contributions of any type, even those that are never written.
    pub(crate) fn of<G: Serialize, P: Serialize>(
        row: &RowResult<G, P>,
        metrics: &[String],
    ) -> Self {
        let run = row.run.as_deref().map(RunRecord::of).unwrap_or_default();
        let score = |(metric, name): (usize, &String)| {
            let outcome = row.outcomes.get(metric)?;
            let repeats = row
                .repeats
                .iter()
                .filter_map(|repeat| repeat.outcomes.get(metric));
            let repeats = repeats.map(|it| (it.value(), it.scored().and_then(|it| it.passed)));
            let mut score = ResultScore::of(outcome);
            score.is_share = score.value.is_some() && are_verdicts(repeats);
            Some((name.clone(), score))
        };
        let (gold, pred) = (side(&*row.gold), row.pred.as_ref().and_then(side));
        let attributes = row.attributes.iter();
        let attributes = attributes.map(|(name, it)| (name, it.clone()));
        Self {
            id: row.id.clone(),
            origin: row.origin.clone(),
            gold_hash: gold.as_ref().and_then(row_hash),
            pred_hash: pred.as_ref().and_then(row_hash),
            is_positional: row.is_positional,
            gold,
            pred,
            attributes: attributes.collect(),
            latency_s: run.latency_s,
            input_tokens: run.input_tokens,
            output_tokens: run.output_tokens,
            cost_msats: run.cost_msats,
            traceback: row.traceback.clone(),
            scores: metrics.iter().enumerate().filter_map(score).collect(),
            ..Self::default()
        }
    }
}

/// Returns a gold row or prediction, or a note that says why it is not JSON.
fn side(side: &impl Serialize) -> Option<Value> {
    let value = serde_json::to_value(side).unwrap_or_else(|error| not_json(&error).into());
    Some(value).filter(|value| !value.is_null())
}

/// Returns the note that replaces a value that cannot be written.
pub(super) fn not_json(error: &serde_json::Error) -> String {
    format!("cannot be written as JSON: {error}")
}

/// The latency, tokens and cost that the program returned. Measured latencies are left out, so the same rows give the
/// same file.
#[derive(Clone, Copy, Default, Serialize)]
pub(super) struct RunRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) latency_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_msats: Option<u64>,
}

impl RunRecord {
    pub(super) fn of(run: &ProgramRun) -> Self {
        Self {
            latency_s: run.returned_latency().map(|latency| latency.as_secs_f64()),
            input_tokens: run.usage.map(|usage| usage.input_tokens),
            output_tokens: run.usage.map(|usage| usage.output_tokens),
            cost_msats: run.usage.and_then(|usage| usage.cost_msats),
        }
    }
}

impl ResultScore {
    /// Returns the error, the details or the feedback, in this order of preference.
    #[doc(hidden)]
    pub fn explanation(&self) -> Option<&str> {
        self.error
            .as_deref()
            .or(self.details.as_deref())
            .or(self.feedback.as_deref())
    }

    /// Returns the models that the judges of the metric and its components used.
    ///
    /// This is like [`Scored::replied_by`]. Returns an empty list if an earlier version of the library wrote the file.
    ///
    /// ```
    /// use dsrs_metrics::results::Results;
    ///
    /// # let file = std::env::temp_dir().join(format!("dsrs-doc-replied-by-{}.jsonl", std::process::id()));
    /// std::fs::write(&file, concat!(
    ///     r#"{"id": "q1", "scores": {"polite": {"outcome": "scored", "value": 1, "metadata": {"judges": [{"#,
    ///     r#""judge": "openai:gpt-6-luna", "replied_by": [{"model": "gpt-6-luna-2026-09-22", "replies": 2}]}]}}}}"#,
    /// ))?;
    /// let results = Results::read(&file)?;
    /// let replied_by = results.rows()[0].scores["polite"].replied_by();
    /// assert_eq!((replied_by[0].model, replied_by[0].replies), ("gpt-6-luna-2026-09-22", 2));
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replied_by(&self) -> Vec<RepliedBy<'_>> {
        let own = RepliedBy::of_metadata(&self.metadata);
        let of_components = self.components.values().flat_map(Self::replied_by);
        own.into_iter().chain(of_components).collect()
    }

    /// Creates a result from an outcome.
    ///
    /// The outcome's contribution to a corpus score is left out.
    #[doc(hidden)]
    pub fn of(outcome: &Outcome) -> Self {
        let scored = outcome.scored();
        let (mut gated_by, mut budget_msats, mut probability) = (None, None, None);
        match outcome {
            Outcome::Gated { by } => gated_by = Some(by.clone()),
            Outcome::Skipped { budget, .. } => budget_msats = Some(*budget),
            Outcome::NotSampled {
                probability: of_row,
            } => probability = Some(*of_row),
            _ => {}
        }
        let mut record = Self {
            outcome: outcome.into(),
            value: outcome.value(),
            passed: scored.and_then(|scored| scored.passed),
            confidence: scored.map(|scored| scored.score.confidence),
            details: scored.and_then(Scored::own_details).map(str::to_owned),
            feedback: scored.and_then(Scored::feedback).map(Cow::into_owned),
            cost_msats: outcome.cost_msats(),
            missing: Vec::new(),
            error: outcome.error(),
            gated_by,
            budget_msats,
            probability,
            parts: IndexMap::new(),
            metadata: Map::new(),
            components: IndexMap::new(),
            corpus: contribution(outcome),
            is_share: false,
            is_judged_offline: false,
        };
        // Most scores have none of these.
        if let Some(noted) = scored.filter(|scored| !scored.is_simple()) {
            let missing = noted.missing_fields().into_iter();
            record.missing = missing.map(str::to_owned).collect();
            let parts = noted.parts().iter();
            record.parts = parts.map(|it| (it.name.to_string(), it.value)).collect();
            record.metadata = noted.metadata().cloned().unwrap_or_default();
            record.components = noted.components().map(Self::of_component).collect();
            record.is_judged_offline = is_judged_offline(&record.metadata, &record.components);
        }
        record
    }

    fn of_component(Component { name, outcome }: Component<'_>) -> (String, Self) {
        let score = Self {
            corpus: None,
            ..Self::of(outcome)
        };
        (name.to_owned(), score)
    }

    /// Completes a score that was read, or returns the path of the value that it lacks.
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        match self.outcome {
            ResultOutcome::Scored if self.value.is_none() => return Err("value".to_owned()),
            ResultOutcome::Scored => {}
            _ => (self.value, self.passed) = (None, None),
        }
        for (name, component) in &mut self.components {
            let path = |path| format!("components.{name}.{path}");
            component.finish().map_err(path)?;
        }
        self.is_judged_offline = is_judged_offline(&self.metadata, &self.components);
        Ok(())
    }

    /// Returns `true` if the value is the verdict as a number: 1 for pass, 0 for fail.
    pub(crate) fn is_verdict(&self) -> bool {
        is_verdict(self.value, self.passed)
    }
}

fn restored<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Counted>, D::Error> {
    let written = Option::<Value>::deserialize(from)?;
    let counted = |written| corpus::restore(&written).ok_or_else(|| D::Error::custom("not counts"));
    written.map(counted).transpose()
}

fn recorded<S: Serializer>(corpus: &Option<Counted>, to: S) -> Result<S::Ok, S::Error> {
    corpus.as_ref().and_then(Counted::record).serialize(to)
}

fn has_no_record(corpus: &Option<Counted>) -> bool {
    corpus.as_ref().and_then(Counted::record).is_none()
}

/// Returns a row's contribution to a score over all rows.
fn contribution(outcome: &Outcome) -> Option<Counted> {
    match outcome {
        Outcome::Counted(counted) => Some(counted.contribution()),
        outcome => Some(Counted::new(outcome.scored()?.corpus()?.clone())),
    }
}

fn is_verdict(value: Option<f64>, passed: Option<bool>) -> bool {
    passed.is_some_and(|passed| value == Some(f64::from(u8::from(passed))))
}

/// Returns `true` if at least one repeat has a score and each score is pass or fail. Each item is a repeat's value and
/// verdict.
fn are_verdicts(repeats: impl Iterator<Item = (Option<f64>, Option<bool>)>) -> bool {
    let scored = repeats.filter(|(value, _)| value.is_some());
    scored
        .map(|(value, passed)| is_verdict(value, passed))
        .reduce(|a, b| a && b)
        .unwrap_or(false)
}

/// Returns `true` if the metadata of a score or one of its components has the offline judge's label.
fn is_judged_offline(
    metadata: &Map<String, Value>,
    components: &IndexMap<String, ResultScore>,
) -> bool {
    has_offline_label(metadata) || components.values().any(|it| it.is_judged_offline)
}

fn has_offline_label(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(key, value)| match value {
        Value::Object(fields) => has_offline_label(fields),
        value => key == "judge" && value == OFFLINE_JUDGE,
    })
}
