//! The score of one row, as metrics return it.
//!
//! `scored.rs` has the score with its verdict and explanation, and `validated.rs` validates it against the metric's
//! spec. `return_types.rs` and `check.rs` convert what a metric returns to a score. `error.rs` and `outcome.rs` have
//! the reasons for a row without a score. `counted.rs` and `corpus.rs` have contributions to a score over all rows, and
//! `replied_by.rs` has the models that replied to a judge. `evaluate/` aggregates over rows.

pub mod check;
pub mod component_results;
pub mod corpus;
pub mod counted;
pub mod error;
pub mod missing;
pub mod outcome;
pub mod replied_by;
pub mod return_types;
mod scored;
mod validated;

pub use self::check::Explanation;
pub use self::component_results::Component;
pub(crate) use self::component_results::{ComponentResult, Components};
pub use self::corpus::{CorpusCounts, CorpusFormula};
pub use self::counted::{CorpusState, Counted};
pub use self::error::{MetricError, MetricErrorKind, Result};
pub use self::missing::unreadable_field;
pub use self::outcome::{Outcome, RowAnswer, row_answer};
pub use self::replied_by::RepliedBy;
pub(crate) use self::replied_by::{FAILED, JUDGES, LostJudges, ReplyCounts};
pub use self::return_types::{Decided, MetricReturn, Undecided, WithCorpus};

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

pub(crate) use scored::Critique;
pub use scored::Scored;

/// The maximum length of a score's details and of its feedback, in bytes. Longer texts are truncated, because an
/// explanation that quotes a whole field would otherwise be as large as the field, for every row.
pub(crate) const MAX_EXPLANATION: usize = 65_536;

/// The label for scores from a judge that ran without a language model.
///
/// A score's metadata contains this label under the key `judge`.
pub const OFFLINE_JUDGE: &str = "offline-lexical";

/// A metric's score for one row.
///
/// ```
/// use dsrs_metrics::optimizers::MetricScore;
///
/// let score = MetricScore::new(0.75).with_details("3 of 4 entities found");
/// assert_eq!((score.value, score.confidence, score.cost_msats), (0.75, 1.0, 0));
/// ```
///
/// Serialization omits a confidence of 1, a cost of 0 and missing details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricScore {
    /// The value of the score, in the metric's declared range.
    pub value: f64,
    /// The confidence in the value, in [0, 1].
    #[serde(default = "certain", skip_serializing_if = "is_certain")]
    pub confidence: f64,
    /// A human-readable explanation, truncated to 64 KiB in results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// The cost of the call, in millisatoshis.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_msats: u64,
}

const fn certain() -> f64 {
    1.0
}

#[expect(clippy::float_cmp, reason = "any other confidence is stored")]
fn is_certain(confidence: &f64) -> bool {
    *confidence == 1.0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl MetricScore {
    /// Creates a score with confidence 1, no details and no cost.
    ///
    /// ```
    /// # use dsrs_metrics::optimizers::MetricScore;
    /// let score = MetricScore::new(0.5);
    /// assert_eq!((score.value, score.confidence, score.details), (0.5, 1.0, None));
    /// ```
    pub const fn new(value: f64) -> Self {
        Self {
            value,
            confidence: 1.0,
            details: None,
            cost_msats: 0,
        }
    }

    /// Sets the details that explain the score.
    ///
    /// ```
    /// # use dsrs_metrics::optimizers::MetricScore;
    /// let score = MetricScore::new(0.0).with_details("expected \"Paris\", found \"Lyon\"");
    /// assert_eq!(serde_json::to_value(&score)?["details"], "expected \"Paris\", found \"Lyon\"");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }

    setters! {
        /// Sets the confidence, in [0, 1].
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        ///
        /// let metric = metric_fn("voted", |_, _| MetricScore::new(1.0).with_confidence(4.0 / 3.0));
        /// let error = metric.score(&example! {}, &prediction! {}).unwrap_err();
        /// assert_eq!(error.to_string(), "metric `voted`: expected a confidence in 0.0..=1.0, found 1.3333333333333333");
        /// ```
        pub const fn with_confidence(confidence: f64) => confidence = confidence;

        /// Sets the cost, in millisatoshis.
        ///
        /// ```
        /// # use dsrs_metrics::optimizers::MetricScore;
        /// let score = MetricScore::new(1.0).with_cost_msats(1_500); // 1.5 satoshis
        /// assert_eq!(score.cost_msats, 1_500);
        /// ```
        pub const fn with_cost_msats(cost_msats: u64) => cost_msats = cost_msats;
    }
}

/// A score with textual feedback, for reflective optimizers.
///
/// ```
/// use std::collections::HashMap;
///
/// use dsrs_metrics::optimizers::FeedbackMetric;
///
/// let literal = FeedbackMetric { score: 1.0, feedback: "Exact match.".to_string(), metadata: HashMap::new() };
/// assert_eq!(literal, FeedbackMetric::new(1.0, "Exact match."));
/// assert_eq!(literal.with_metadata("length", 5).metadata["length"], 5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeedbackMetric {
    /// The value of the score, in the metric's declared range.
    pub score: f64,
    /// The feedback, truncated to 64 KiB in results.
    pub feedback: String,
    /// Additional structured data, sorted by key in results.
    #[serde(serialize_with = "sorted")]
    pub metadata: HashMap<String, Value>,
}

impl FeedbackMetric {
    /// Creates a score with feedback and no metadata.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let named = metric_fn("named", |_, pred| match pred.get("name") {
    ///     Some(_) => FeedbackMetric::new(1.0, "The name is given."),
    ///     None => FeedbackMetric::new(0.0, "Add the field `name`."),
    /// });
    /// let score = named.score(&example! {}, &prediction! {})?;
    /// assert_eq!((score.value, score.details.as_deref()), (0.0, Some("Add the field `name`.")));
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn new(score: f64, feedback: impl Into<String>) -> Self {
        Self {
            score,
            feedback: feedback.into(),
            metadata: HashMap::new(),
        }
    }

    /// Adds a metadata entry.
    ///
    /// ```
    /// # use dsrs_metrics::optimizers::FeedbackMetric;
    /// let feedback = FeedbackMetric::new(0.5, "1 of 2 entities found");
    /// let feedback = feedback.with_metadata("missing", vec!["Rome"]).with_metadata("expected", 2);
    /// assert_eq!(feedback.metadata["missing"][0], "Rome");
    /// ```
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

/// Serializes entries in key order, so equal values have equal bytes.
fn sorted<S: Serializer>(entries: &HashMap<String, Value>, to: S) -> Result<S::Ok, S::Error> {
    entries.iter().collect::<BTreeMap<_, _>>().serialize(to)
}

/// Several named scores from one call.
///
/// The first score is the headline.
///
/// ```
/// use dsrs_metrics::contract::Scores;
///
/// let scores = Scores::new("f1", 0.5).with("precision", 1.0).with("recall", 1.0 / 3.0);
/// assert_eq!(scores.headline(), 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    parts: IndexMap<String, Part>,
}

/// One of several named scores, with its value and feedback.
///
/// ```
/// use dsrs_metrics::{contract::Part, prelude::*};
///
/// let overlap = metric_fn("overlap", |_, _| {
///     Scores::new("f1", 0.5).with("recall", 0.25).with_feedback("missing: Rome")
/// });
/// let (gold, pred) = (example! {}, prediction! {});
/// let scored = overlap.answer(MetricCall::new(&gold, &pred)).ready().unwrap()?;
/// let recall = Part { name: "recall".to_owned(), value: 0.25, feedback: Some("missing: Rome".to_owned()) };
/// assert_eq!(scored.parts()[1], recall);
/// # Ok::<(), dsrs_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The name, unique within the call.
    pub name: String,
    /// The value of the score, in the metric's declared range.
    pub value: f64,
    /// Feedback on this score alone, for multi-objective optimizers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl Scores {
    /// Creates a set of scores with the given headline score.
    ///
    /// ```
    /// use dsrs_metrics::prelude::*;
    ///
    /// let overlap = metric_fn("overlap", |_, _| Scores::new("f1", 0.5));
    /// assert_eq!(overlap.score(&example! {}, &prediction! {})?.value, 0.5);
    /// # Ok::<(), dsrs_metrics::MetricError>(())
    /// ```
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        let parts = IndexMap::new();
        Self { parts }.with(name, value)
    }

    /// Creates a set of scores without a headline score.
    #[doc(hidden)]
    pub fn of(parts: impl Iterator<Item = Part>) -> Self {
        let parts = parts.map(|part| (part.name.clone(), part)).collect();
        Self { parts }
    }

    /// Adds a score, or replaces the value of an existing score with this name.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Scores;
    /// let scores = Scores::new("f1", 0.5).with("recall", 0.25);
    /// assert_eq!(scores.with("f1", 0.75).headline(), 0.75);
    /// ```
    pub fn with(mut self, name: impl Into<String>, value: f64) -> Self {
        let name = name.into();
        let part = self.parts.entry(name.clone()).or_insert(Part {
            name,
            value,
            feedback: None,
        });
        part.value = value;
        self
    }

    /// Sets the feedback for the most recently added score.
    ///
    /// ```
    /// use dsrs_metrics::contract::Scores;
    ///
    /// let scores = Scores::new("f1", 0.5).with("recall", 0.25).with_feedback("missing: Paris, Rome, Oslo");
    /// ```
    pub fn with_feedback(mut self, feedback: impl Into<String>) -> Self {
        if let Some((_, part)) = self.parts.last_mut() {
            part.feedback = Some(feedback.into());
        }
        self
    }

    /// Returns the value of the headline score.
    ///
    /// ```
    /// # use dsrs_metrics::contract::Scores;
    /// assert_eq!(Scores::new("f1", 0.5).with("recall", 1.0).headline(), 0.5);
    /// ```
    pub fn headline(&self) -> f64 {
        self.parts[0].value
    }
}

/// The result of [`Metric::grade`](crate::Metric::grade).
///
/// Optimizers call `Metric::grade` with five arguments.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let half = metric_fn("half", |_, _| 0.5);
/// let (gold, pred, trace) = (example! {}, prediction! {}, Trace::default());
/// let call = MetricCall::new(&gold, &pred).with_trace(&trace);
/// assert_eq!(half.grade(call).await?, Grade::Score(MetricScore::new(0.5)));
/// assert_eq!(half.with_threshold(0.6).grade(call).await?, Grade::Verdict(false));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Grade {
    /// The score, if no trace was given or the metric has no verdict.
    Score(MetricScore),
    /// The verdict, if a trace was given and the metric has one.
    Verdict(bool),
}
