//! What is known of a metric before it runs: name, tier, cost, range, direction, threshold, fields.
//!
//! `#[metric]` writes a [`MetricSpec`] as a `const`; hand-written metrics build one at run time with
//! the `with_*` methods. How a raw score is held against the spec lives in `score/scored.rs`.

use std::fmt;

use crate::core::rows::dynamic::{Example, Fields, Prediction};

/// How a metric's cost relates to how far its answer can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricTier {
    /// Cheap and fast: formats, syntax, token overlap. Runs first.
    Proxy,
    /// Expensive and accurate: a language model, a sandbox. Runs where the proxies pass.
    Truth,
}

/// Which end of a metric's range is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// A larger value is a better one: accuracy, F1.
    HigherIsBetter,
    /// A smaller value is a better one: word error rate, edit distance.
    LowerIsBetter,
}

/// What a metric's values are, and so how they are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// True or false; the headline is the percentage of true, in [0, 100].
    Bool,
    /// A number; the headline is the mean.
    Number,
}

/// The closed interval in which every value of a metric must lie.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct ScoreRange {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl ScoreRange {
    /// [0, 1], the range of a `bool` metric and of most others.
    pub const UNIT: Self = Self { min: 0.0, max: 1.0 };

    /// Whether `value` lies in the range; NaN lies in none.
    #[must_use]
    pub const fn contains(&self, value: f64) -> bool {
        self.min <= value && value <= self.max
    }
}

impl fmt::Display for ScoreRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..={:?}", self.min, self.max)
    }
}

/// A field that a metric reads from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct FieldSpec<'a> {
    /// The field's name in the row.
    pub name: &'a str,
    /// The type as the metric's author wrote it, e.g. `&str`.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Whether a row without the field cannot be scored.
    pub required: bool,
}

impl<'a> FieldSpec<'a> {
    /// A field that a metric reads.
    #[must_use]
    pub const fn new(name: &'a str, ty: &'a str, required: bool) -> Self {
        Self { name, ty, required }
    }
}

/// One configuration value of a metric: a `#[param]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct ParamSpec<'a> {
    /// The parameter's name, as in `--param NAME.KEY=VALUE`.
    pub name: &'a str,
    /// The type as the metric's author wrote it.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// The default as the metric's author wrote it; `None` if the user must give a value.
    pub default: Option<&'a str>,
    /// The parameter's documentation.
    pub doc: &'a str,
    /// The fields that the parameter names, by half of the row and place among its fields.
    #[doc(hidden)]
    #[serde(skip)]
    pub names: &'a [(Side, usize)],
}

/// Everything that is known of a metric before it runs.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// /// Case-insensitive intent match.
/// #[metric]
/// fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
///     expected_intent.eq_ignore_ascii_case(intent)
/// }
///
/// const SPEC: MetricSpec<'static> = IntentAccuracy::SPEC;
/// assert_eq!(SPEC.name, "intent_accuracy");
/// assert_eq!(SPEC.required_fields().collect::<Vec<_>>(), ["gold.expected_intent", "pred.intent"]);
/// assert!(SPEC.is_success(1.0).unwrap());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct MetricSpec<'a> {
    /// The name, in snake case.
    pub name: &'a str,
    /// The documentation, as the author wrote it.
    pub doc: &'a str,
    /// Proxy or truth.
    pub tier: MetricTier,
    /// What one call is expected to cost at most, in millisatoshis.
    pub cost_msats: u64,
    /// Bool or number.
    pub kind: ScoreKind,
    /// The value from which on (or, if lower is better, up to which) a score is a pass.
    pub threshold: Option<f64>,
    /// The interval in which every value must lie; `None` means any finite number.
    pub range: Option<ScoreRange>,
    /// Which end of the range is the good one, before [`strict`](Self::strict) is applied.
    pub direction: Direction,
    /// Whether a score becomes 1 (pass) or 0 (fail) at the threshold before anything else sees it.
    pub strict: bool,
    /// Whether the metric must be awaited.
    pub is_async: bool,
    /// The fields read from the gold example.
    pub gold: &'a [FieldSpec<'a>],
    /// The fields read from the prediction.
    pub pred: &'a [FieldSpec<'a>],
    /// The configuration.
    pub params: &'a [ParamSpec<'a>],
    /// Part of every cache key; changes whenever the meaning of the score changes.
    pub version: &'a str,
}

impl<'a> MetricSpec<'a> {
    /// A free proxy metric called `name`: higher is better, no threshold, any finite value.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        Self {
            name,
            doc: "",
            tier: MetricTier::Proxy,
            cost_msats: 0,
            kind: ScoreKind::Number,
            threshold: None,
            range: None,
            direction: Direction::HigherIsBetter,
            strict: false,
            is_async: false,
            gold: &[],
            pred: &[],
            params: &[],
            version: "1",
        }
    }

    /// Sets the documentation.
    #[must_use]
    pub const fn with_doc(mut self, doc: &'a str) -> Self {
        self.doc = doc;
        self
    }

    /// Sets the tier.
    #[must_use]
    pub const fn with_tier(mut self, tier: MetricTier) -> Self {
        self.tier = tier;
        self
    }

    /// Sets what one call is expected to cost at most, in millisatoshis.
    #[must_use]
    pub const fn with_cost_msats(mut self, cost_msats: u64) -> Self {
        self.cost_msats = cost_msats;
        self
    }

    /// Sets the kind; a bool lies in [0, 1].
    #[must_use]
    pub const fn with_kind(mut self, kind: ScoreKind) -> Self {
        self.kind = kind;
        if matches!(kind, ScoreKind::Bool) {
            self.range = Some(ScoreRange::UNIT);
        }
        self
    }

    /// Sets the value from which on a score is a pass.
    #[must_use]
    pub const fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// Sets the interval in which every value must lie.
    #[must_use]
    pub const fn with_range(mut self, min: f64, max: f64) -> Self {
        self.range = Some(ScoreRange { min, max });
        self
    }

    /// Sets the direction.
    #[must_use]
    pub const fn with_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Makes every score 1 or 0 at the threshold.
    #[must_use]
    pub const fn with_strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Says that the metric must be awaited.
    #[must_use]
    pub const fn with_async(mut self) -> Self {
        self.is_async = true;
        self
    }

    /// Sets the fields read from the gold example and from the prediction.
    #[must_use]
    pub const fn with_fields(
        mut self,
        gold: &'a [FieldSpec<'a>],
        pred: &'a [FieldSpec<'a>],
    ) -> Self {
        self.gold = gold;
        self.pred = pred;
        self
    }

    /// Sets the configuration.
    #[must_use]
    pub const fn with_params(mut self, params: &'a [ParamSpec<'a>]) -> Self {
        self.params = params;
        self
    }

    /// Sets the version.
    #[must_use]
    pub const fn with_version(mut self, version: &'a str) -> Self {
        self.version = version;
        self
    }

    /// The fields without which a row cannot be scored, as `gold.NAME` and `pred.NAME`.
    pub fn required_fields(&self) -> impl Iterator<Item = String> {
        let name =
            |side, field: &FieldSpec<'_>| field.required.then(|| format!("{side}.{}", field.name));
        let gold = self.gold.iter().filter_map(move |field| name(Side::Gold, field));
        gold.chain(self.pred.iter().filter_map(move |field| name(Side::Pred, field)))
    }

    /// The names of all fields that the metric reads, as `gold.NAME` and `pred.NAME`.
    pub fn get_input_fields(&self) -> impl Iterator<Item = String> {
        self.get_input_spec().map(|(side, field)| format!("{side}.{}", field.name))
    }

    /// All fields that the metric reads, gold first, with type and whether they are required.
    pub fn get_input_spec(&self) -> impl Iterator<Item = (Side, FieldSpec<'a>)> {
        let gold = self.gold.iter().map(|field| (Side::Gold, *field));
        gold.chain(self.pred.iter().map(|field| (Side::Pred, *field)))
    }

    /// Whether the rows have every required field. The fields' types are checked by
    /// [`Metric::can_evaluate`](crate::Metric::can_evaluate).
    #[must_use]
    pub fn can_evaluate(&self, gold: &Example, pred: &Prediction) -> bool {
        let has = |row: &Fields, fields: &[FieldSpec<'_>]| {
            fields.iter().all(|field| !field.required || row.contains_key(field.name))
        };
        has(&gold.data, self.gold) && has(&pred.data, self.pred)
    }

    /// Whether a reported score is a pass; `None` if the metric has neither `bool` nor threshold.
    ///
    /// ```
    /// use dsrs_metrics::{Direction, MetricSpec};
    ///
    /// let wer = MetricSpec::new("wer").with_threshold(0.1).with_direction(Direction::LowerIsBetter);
    /// assert_eq!(wer.is_success(0.05), Some(true));
    /// assert_eq!(wer.is_success(0.5), Some(false));
    /// assert_eq!(MetricSpec::new("mean_length").is_success(3.0), None);
    /// ```
    #[must_use]
    pub fn is_success(&self, score: f64) -> Option<bool> {
        if self.strict { Some(score >= 1.0) } else { self.verdict(score) }
    }

    /// Whether a score, before [`strict`](Self::strict) is applied, is a pass.
    #[inline]
    pub(crate) fn verdict(&self, raw: f64) -> Option<bool> {
        match (self.kind, self.threshold, self.direction) {
            (ScoreKind::Bool, ..) => Some(raw >= 1.0),
            (_, None, _) => None,
            (_, Some(threshold), Direction::HigherIsBetter) => Some(raw >= threshold),
            (_, Some(threshold), Direction::LowerIsBetter) => Some(raw <= threshold),
        }
    }

    /// Whether every score is 1 or 0.
    #[must_use]
    pub const fn strict_mode(&self) -> bool {
        self.strict
    }

    /// Whether a larger reported score is a better one; a strict score is 1 for a pass, so it is.
    #[must_use]
    pub const fn higher_is_better(&self) -> bool {
        self.strict || matches!(self.direction, Direction::HigherIsBetter)
    }
}

/// The half of a row that a field belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The labelled example.
    Gold,
    /// What the program predicted.
    Pred,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gold => "gold",
            Self::Pred => "pred",
        })
    }
}
