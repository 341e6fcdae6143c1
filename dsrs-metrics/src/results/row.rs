//! One row of a result file, and its scores.

use std::fmt;
use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::core::counted::Counted;
use crate::core::rows::dynamic::Fields;
use crate::core::rows::pair::Origin;
use crate::core::score::OFFLINE_JUDGE;
use crate::json::path;

/// One row of a result file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResultRow {
    /// The row's id, unique within its file.
    pub id: String,
    /// The row's position in the data that was scored (results in memory), or in the result file.
    pub origin: Option<Origin>,
    /// The gold row; `None` if the file does not contain gold rows. The fields of a CSV file are strings.
    pub gold: Option<Value>,
    /// The prediction; `None` if the file does not contain predictions, or the program failed.
    pub pred: Option<Value>,
    /// All other fields of the scored row.
    pub attributes: Fields,
    /// The latency that the program returned, in seconds.
    pub latency_s: Option<f64>,
    /// The tokens in the prompts of the program.
    pub input_tokens: Option<u64>,
    /// The tokens in the replies to the program.
    pub output_tokens: Option<u64>,
    /// The cost of the program, in millisatoshis, without that of the metrics.
    pub cost_msats: Option<u64>,
    /// The backtraces of panics, if they were recorded.
    pub traceback: Option<String>,
    /// The result of each metric, in the order of the file.
    pub scores: IndexMap<String, ResultScore>,
    /// Whether the row is from a format with columns, where an absent value is a null and numbers of a column have one type.
    pub(crate) is_flat: bool,
}

/// The result of one metric, or of one component of a composite, on one row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResultScore {
    /// Whether there is a score, and if not, why.
    pub outcome: ResultOutcome,
    /// The score; finite. `None` unless the outcome is [`Scored`](ResultOutcome::Scored).
    pub value: Option<f64>,
    /// The verdict, if the metric has one.
    pub passed: Option<bool>,
    /// The metric's confidence in [0, 1].
    pub confidence: Option<f64>,
    /// What the metric wrote about the score.
    pub details: Option<String>,
    /// The feedback for an optimizer.
    pub feedback: Option<String>,
    /// The error of a failed row.
    pub error: Option<String>,
    /// The cost of the call, in millisatoshis.
    pub cost_msats: u64,
    /// The fields that the metric reads and the prediction lacks.
    pub missing: Vec<String>,
    /// The metric that rejected a gated row.
    pub gated_by: Option<String>,
    /// The budget that did not cover a skipped row, in millisatoshis.
    pub budget_msats: Option<u64>,
    /// Named scores, such as `precision`.
    pub parts: IndexMap<String, f64>,
    /// Values of any type that the metric returned, such as the reasoning of a judge.
    pub metadata: Map<String, Value>,
    /// The results of the components of a composite.
    pub components: IndexMap<String, ResultScore>,
    /// The contribution to the score of all rows.
    pub(crate) corpus: Option<Counted>,
    /// Whether the value is the mean of repeats that are all pass or fail.
    pub(crate) is_share: bool,
    /// Whether the offline judge, not a model, rated the row for this metric or a component.
    pub is_judged_offline: bool,
}

/// Whether a row has a score, and if not, why; the names of [`Outcome`](crate::Outcome).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultOutcome {
    /// The metric returned a score.
    Scored,
    /// The metric counted the row for its score of all rows; the row has none of its own.
    Counted,
    /// A cheaper metric rejected the row.
    Gated,
    /// The budget did not cover the call.
    Skipped,
    /// The metric abstained.
    Abstained,
    /// The metric failed.
    MetricFailed,
    /// The program failed.
    ProgramFailed,
}

impl ResultOutcome {
    pub(super) const ALL: [Self; 7] = [
        Self::Scored,
        Self::Counted,
        Self::Gated,
        Self::Skipped,
        Self::Abstained,
        Self::MetricFailed,
        Self::ProgramFailed,
    ];

    /// Returns the outcome's name in snake case, as in result files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::Counted => "counted",
            Self::Gated => "gated",
            Self::Skipped => "skipped",
            Self::Abstained => "abstained",
            Self::MetricFailed => "metric_failed",
            Self::ProgramFailed => "program_failed",
        }
    }

    /// Returns whether the metric or the program failed. The mean counts such a row as the failure score.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::MetricFailed | Self::ProgramFailed)
    }
}

impl fmt::Display for ResultOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ResultRow {
    /// Returns the value of an attribute, or of `gold.FIELD` or `pred.FIELD`, where a path may lead into objects and
    /// lists. The cells of a CSV file are strings.
    #[must_use]
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

    /// The position of the row, for an error.
    pub(crate) fn at(&self) -> Origin {
        let unknown = || Origin { file: Path::new("evaluation").into(), line: 0 };
        self.origin.clone().unwrap_or_else(unknown)
    }
}

impl ResultScore {
    /// Whether the value is the verdict: 1 for pass and 0 for fail.
    pub(super) fn is_verdict(&self) -> bool {
        self.passed.is_some_and(|passed| self.value == Some(f64::from(u8::from(passed))))
    }
}

/// Returns whether metadata contains the label of the offline judge, at any depth.
pub(super) fn has_offline_label(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(key, value)| match value {
        Value::Object(fields) => has_offline_label(fields),
        value => key == "judge" && value == OFFLINE_JUDGE,
    })
}
