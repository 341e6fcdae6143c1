//! The declaration of a metric.
//!
//! The declaration has the metric's name, tier, cost, range, direction, threshold and fields.
//!
//! `#[metric]` generates a [`MetricSpec`] as a `const`; hand-written metrics build one at run time with the `with_*`
//! methods. `score/scored.rs` validates scores against it.
//!
//! Every method of [`MetricSpec`] has an example.
//!
//! The file is long because each field of a spec and its setter are documented with an example.

pub mod instance_settings;

use std::fmt;

use serde::Serializer;

use crate::value_type::TypeHelp;

/// A metric's trade-off between cost and accuracy.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric(tier = truth, cost = "2 sat")]
/// async fn reviewed(#[pred] answer: &str) -> bool {
///     !answer.is_empty()
/// }
///
/// assert_eq!((Reviewed::SPEC.tier, Reviewed::SPEC.cost_msats), (MetricTier::Truth, 2_000));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricTier {
    /// A cheap and fast metric, such as a format check, a syntax check or token overlap.
    ///
    /// A proxy runs first.
    Proxy,
    /// An expensive and accurate metric, such as one that uses a language model or a sandbox.
    ///
    /// A truth runs only on the rows that pass the proxies.
    Truth,
}

/// Specifies whether larger or smaller values are better.
///
/// ```
/// use dsrs_metrics::contract::{Direction, MetricSpec};
///
/// let wer = MetricSpec::new("wer").with_direction(Direction::LowerIsBetter);
/// assert!(!wer.higher_is_better());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Larger values are better, as with accuracy and F1.
    HigherIsBetter,
    /// Smaller values are better, as with word error rate and edit distance.
    LowerIsBetter,
}

/// The kind of a metric's values, which determines how they are aggregated.
///
/// ```
/// use dsrs_metrics::contract::ScoreKind;
/// use dsrs_metrics::metrics::{Accuracy, Em, F1};
///
/// let kinds = [Em::SPEC, F1::SPEC, Accuracy::SPEC].map(|spec| spec.kind);
/// assert_eq!(kinds, [ScoreKind::Bool, ScoreKind::Number, ScoreKind::Corpus]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreKind {
    /// The metric returns true or false.
    ///
    /// A run's score is the fraction of rows that are true, in [0, 1].
    Bool,
    /// The metric returns a number, and the headline is the mean.
    #[default]
    Number,
    /// The metric has one score over all rows, which is the headline.
    ///
    /// A single row has no value.
    Corpus,
}

/// A closed interval that contains every value of a metric.
///
/// ```
/// use dsrs_metrics::contract::ScoreRange;
///
/// let matthews = ScoreRange { min: -1.0, max: 1.0 };
/// assert!(matthews.contains(-0.2));
/// assert_eq!(matthews.to_string(), "-1.0..=1.0");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ScoreRange {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl ScoreRange {
    /// The range [0, 1], used by `bool` metrics and most other metrics.
    ///
    /// ```
    /// # use dsrs_metrics::contract::ScoreRange;
    /// # use dsrs_metrics::metrics::Em;
    /// assert_eq!(Em::SPEC.range, Some(ScoreRange::UNIT));
    /// assert_eq!(ScoreRange::UNIT.to_string(), "0.0..=1.0");
    /// ```
    pub const UNIT: Self = Self { min: 0.0, max: 1.0 };

    /// Returns `true` if `value` is in the range, and `false` for NaN.
    ///
    /// ```
    /// # use dsrs_metrics::contract::ScoreRange;
    /// assert!(ScoreRange::UNIT.contains(1.0));
    /// assert!(!ScoreRange::UNIT.contains(1.000001));
    /// assert!(!ScoreRange::UNIT.contains(f64::NAN));
    /// ```
    pub const fn contains(&self, value: f64) -> bool {
        self.min <= value && value <= self.max
    }
}

impl fmt::Display for ScoreRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}..={:?}", self.min, self.max)
    }
}

/// The declaration of a metric, which is available before the metric runs.
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
    /// The metric's name, in snake case.
    pub name: &'a str,
    /// The documentation, as the author wrote it.
    pub doc: &'a str,
    /// The metric's tier: proxy or truth.
    pub tier: MetricTier,
    /// The declared maximum cost of one call, in millisatoshis.
    pub cost_msats: u64,
    /// The kind of score that the metric returns, such as a bool or a number.
    pub kind: ScoreKind,
    /// The metric's threshold.
    ///
    /// The threshold is the smallest passing value, or the largest if lower is better.
    pub threshold: Option<f64>,
    /// The interval that contains every value.
    ///
    /// `None` means that a value can be any finite number.
    pub range: Option<ScoreRange>,
    /// Specifies whether larger or smaller values are better.
    ///
    /// The direction applies before [`strict`](Self::strict) replaces the values with 1 or 0.
    pub direction: Direction,
    /// `true` if each score is replaced with 1 (pass) or 0 (fail).
    ///
    /// The score is replaced before it is reported or combined.
    pub strict: bool,
    /// The score for a prediction that lacks a required field.
    ///
    /// A `null` field counts as missing. If `None`, a prediction without the field is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
    /// `true` if the metric is asynchronous.
    pub is_async: bool,
    /// The fields read from the gold example.
    pub gold: &'a [FieldSpec<'a>],
    /// The fields read from the prediction.
    pub pred: &'a [FieldSpec<'a>],
    /// `true` if the metric reads only the fields in `gold` and `pred`.
    ///
    /// A reader can skip all other fields.
    #[serde(skip)]
    pub only_fields: bool,
    /// The parameters.
    pub params: &'a [ParamSpec<'a>],
    /// The version of the metric's definition.
    ///
    /// The version is part of every stored reply's key.
    pub version: &'a str,
    /// The fingerprint of the metric's code.
    ///
    /// The fingerprint is a hash. It covers a function's tokens, a judge's `score`, or a composite's expression and
    /// components.
    ///
    /// This is `None` if the metric was not created by a macro.
    #[serde(
        serialize_with = "serialize_code",
        skip_serializing_if = "Option::is_none"
    )]
    pub code: Option<u64>,
    /// `true` if the metric's attribute is invalid.
    ///
    /// Rules aren't checked for this metric.
    #[doc(hidden)]
    #[serde(skip)]
    pub is_stub: bool,
}

impl<'a> MetricSpec<'a> {
    /// Returns the spec for a metric whose attribute is invalid.
    #[doc(hidden)]
    pub const fn stub(name: &'a str) -> Self {
        let mut spec = Self::new(name);
        spec.is_stub = true;
        spec
    }

    /// Returns `true` if any of the metrics has an invalid attribute.
    #[doc(hidden)]
    pub const fn any_stub(specs: &[Self]) -> bool {
        match specs {
            [spec, rest @ ..] => spec.is_stub || Self::any_stub(rest),
            [] => false,
        }
    }

    /// Creates the spec for a proxy metric that costs nothing.
    ///
    /// Higher is better, there is no threshold, and any finite value is allowed.
    ///
    /// ```
    /// # use dsrs_metrics::contract::MetricSpec;
    /// let spec = MetricSpec::new("mean_length");
    /// assert_eq!(spec.properties(), "proxy, number, higher is better, free");
    /// ```
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
            missing: None,
            is_async: false,
            gold: &[],
            pred: &[],
            only_fields: false,
            params: &[],
            version: "1",
            code: None,
            is_stub: false,
        }
    }

    setters! {
        /// Sets the documentation.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// let spec = MetricSpec::new("brevity").with_doc("Whether the answer is short.");
        /// assert_eq!(spec.doc, "Whether the answer is short.");
        /// ```
        pub const fn with_doc(doc: &'a str) => doc = doc;

        /// Sets the metric's tier.
        ///
        /// ```
        /// # use dsrs_metrics::contract::{MetricSpec, MetricTier};
        /// let spec = MetricSpec::new("unit_tests").with_tier(MetricTier::Truth);
        /// assert_eq!(spec.properties(), "truth, number, higher is better, free");
        /// ```
        pub const fn with_tier(tier: MetricTier) => tier = tier;

        /// Sets the maximum expected cost of one call, in millisatoshis.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// let spec = MetricSpec::new("judged").with_cost_msats(2_500); // 2.5 satoshis
        /// assert!(spec.properties().ends_with("2500 msat a row"));
        /// ```
        pub const fn with_cost_msats(cost_msats: u64) => cost_msats = cost_msats;
    }

    /// Sets the kind of the metric's values.
    ///
    /// For a bool, this method also sets the range to [0, 1].
    ///
    /// ```
    /// # use dsrs_metrics::contract::{MetricSpec, ScoreKind, ScoreRange};
    /// let spec = MetricSpec::new("compiles").with_kind(ScoreKind::Bool);
    /// assert_eq!((spec.range, spec.is_success(1.0)), (Some(ScoreRange::UNIT), Some(true)));
    /// ```
    pub const fn with_kind(mut self, kind: ScoreKind) -> Self {
        self.kind = kind;
        if matches!(kind, ScoreKind::Bool) {
            self.range = Some(ScoreRange::UNIT);
        }
        self
    }

    setters! {
        /// Sets the threshold that separates passes from failures.
        ///
        /// The threshold is the smallest passing value, or the largest if lower is better.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// let spec = MetricSpec::new("overlap").with_threshold(0.8);
        /// assert_eq!((spec.is_success(0.8), spec.is_success(0.79)), (Some(true), Some(false)));
        /// ```
        pub const fn with_threshold(threshold: f64) => threshold = Some(threshold);

        /// Sets the interval that contains every value.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// let range = MetricSpec::new("stars").with_range(1.0, 5.0).range.unwrap();
        /// assert_eq!((range.min, range.max), (1.0, 5.0));
        /// ```
        pub const fn with_range(min: f64, max: f64) => range = Some(ScoreRange { min, max });

        /// Sets whether larger or smaller values are better.
        ///
        /// ```
        /// # use dsrs_metrics::contract::{Direction, MetricSpec};
        /// let spec = MetricSpec::new("edits").with_direction(Direction::LowerIsBetter).with_threshold(2.0);
        /// assert_eq!((spec.is_success(1.0), spec.is_success(3.0)), (Some(true), Some(false)));
        /// ```
        pub const fn with_direction(direction: Direction) => direction = direction;

        /// Replaces each score with 1 (pass) or 0 (fail).
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// // The reported score of a strict metric is 0 or 1, so it is not compared with the threshold again.
        /// let spec = MetricSpec::new("overlap").with_threshold(0.5).with_strict();
        /// assert_eq!((spec.is_success(1.0), spec.is_success(0.0)), (Some(true), Some(false)));
        /// ```
        pub const fn with_strict() => strict = true;

        /// Sets the score for a prediction that lacks a required field.
        ///
        /// A hand-written metric must return this score itself.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// assert_eq!(MetricSpec::new("overlap").with_missing(0.0).missing, Some(0.0));
        /// assert_eq!(MetricSpec::new("overlap").missing, None); // a missing field is an error
        /// ```
        pub const fn with_missing(score: f64) => missing = Some(score);

        /// Declares the metric as asynchronous.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// assert!(MetricSpec::new("judged").with_async().is_async);
        /// ```
        pub const fn with_async() => is_async = true;
    }

    /// Sets the fields read from the gold example and from the prediction.
    ///
    /// ```
    /// use dsrs_metrics::contract::{FieldSpec, MetricSpec};
    ///
    /// let (gold, pred) = ([FieldSpec::new("answer", "f64", true)], [FieldSpec::new("guess", "f64", true)]);
    /// let spec = MetricSpec::new("distance").with_fields(&gold, &pred);
    /// assert_eq!(spec.get_input_fields().collect::<Vec<_>>(), ["gold.answer", "pred.guess"]);
    /// ```
    pub const fn with_fields(
        mut self,
        gold: &'a [FieldSpec<'a>],
        pred: &'a [FieldSpec<'a>],
    ) -> Self {
        self.gold = gold;
        self.pred = pred;
        self
    }

    setters! {
        /// Declares that the metric reads only the fields set by [`with_fields`](Self::with_fields).
        ///
        /// ```
        /// # use dsrs_metrics::contract::{FieldSpec, MetricSpec};
        /// let answer = [FieldSpec::new("answer", "&str", true)];
        /// let spec = MetricSpec::new("brevity").with_fields(&[], &answer);
        /// assert!(!spec.only_fields && spec.with_only_fields().only_fields);
        /// ```
        pub const fn with_only_fields() => only_fields = true;

        /// Sets the parameters.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// use dsrs_metrics::metrics::F1;
        ///
        /// // A hand-written metric with the parameters of another one.
        /// let spec = MetricSpec::new("my_f1").with_params(F1::SPEC.params);
        /// assert_eq!(spec.params[0].name, "profile");
        /// ```
        pub const fn with_params(params: &'a [ParamSpec<'a>]) => params = params;

        /// Sets the version.
        ///
        /// ```
        /// # use dsrs_metrics::contract::MetricSpec;
        /// assert_eq!(MetricSpec::new("overlap").version, "1");
        /// assert_eq!(MetricSpec::new("overlap").with_version("2").version, "2");
        /// ```
        pub const fn with_version(version: &'a str) => version = version;

        /// Sets the fingerprint of the metric's code.
        ///
        /// `#[metric]` and `#[judge]` compute the fingerprint. It is part of the metric's
        /// [identity](crate::MetricIdentity).
        ///
        /// ```
        /// use dsrs_metrics::contract::MetricSpec;
        ///
        /// // A hand-written metric has none, unless it hashes its code itself.
        /// assert_eq!(MetricSpec::new("overlap").code, None);
        /// assert_eq!(MetricSpec::new("overlap").with_code(0x1f).code, Some(31));
        /// ```
        pub const fn with_code(code: u64) => code = Some(code);
    }

    /// Returns an iterator over the required fields, as `gold.NAME` and `pred.NAME`.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// #[metric]
    /// fn grounded(#[gold] context: &str, #[pred] answer: &str, #[pred] quote: Option<&str>) -> bool {
    ///     context.contains(quote.unwrap_or(answer))
    /// }
    ///
    /// let required: Vec<_> = Grounded::SPEC.required_fields().collect();
    /// assert_eq!(required, ["gold.context", "pred.answer"]); // `quote` is optional
    /// ```
    pub fn required_fields(&self) -> impl Iterator<Item = String> {
        let required = self.get_input_spec().filter(|(_, field)| field.required);
        required.map(|(side, field)| format!("{side}.{}", field.name))
    }

    /// Returns an iterator over all fields that the metric reads.
    ///
    /// The names are written as `gold.NAME` and `pred.NAME`.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// #[metric]
    /// fn grounded(#[gold] context: &str, #[pred] answer: &str, #[pred] quote: Option<&str>) -> bool {
    ///     context.contains(quote.unwrap_or(answer))
    /// }
    ///
    /// let read: Vec<_> = Grounded::SPEC.get_input_fields().collect();
    /// assert_eq!(read, ["gold.context", "pred.answer", "pred.quote"]);
    /// ```
    pub fn get_input_fields(&self) -> impl Iterator<Item = String> {
        self.get_input_spec()
            .map(|(side, field)| format!("{side}.{}", field.name))
    }

    /// Returns an iterator over the specs of all fields that the metric reads.
    ///
    /// The fields of the gold example come first.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::Side, metrics::IntentAccuracy};
    /// let fields: Vec<_> = IntentAccuracy::SPEC.get_input_spec().map(|(side, field)| (side, field.name)).collect();
    /// assert_eq!(fields, [(Side::Gold, "expected_intent"), (Side::Pred, "intent")]);
    /// ```
    pub fn get_input_spec(&self) -> impl Iterator<Item = (Side, FieldSpec<'a>)> {
        let gold = self.gold.iter().map(|field| (Side::Gold, *field));
        gold.chain(self.pred.iter().map(|field| (Side::Pred, *field)))
    }

    /// Returns `Some(true)` if a reported score passes, and `Some(false)` if it fails.
    ///
    /// Returns `None` if the metric neither returns `bool` nor has a threshold.
    ///
    /// ```
    /// use dsrs_metrics::contract::{Direction, MetricSpec};
    ///
    /// let wer = MetricSpec::new("wer").with_threshold(0.1).with_direction(Direction::LowerIsBetter);
    /// assert_eq!(wer.is_success(0.05), Some(true));
    /// assert_eq!(wer.is_success(0.5), Some(false));
    /// assert_eq!(MetricSpec::new("mean_length").is_success(3.0), None);
    /// ```
    pub fn is_success(&self, score: f64) -> Option<bool> {
        if self.strict {
            Some(score >= 1.0)
        } else {
            self.verdict(score)
        }
    }

    /// Returns `Some(true)` if a score passes, before [`strict`](Self::strict) applies.
    #[inline]
    pub(crate) fn verdict(&self, raw: f64) -> Option<bool> {
        match (self.kind, self.threshold, self.direction) {
            (ScoreKind::Bool, ..) => Some(raw >= 1.0),
            (_, None, _) => None,
            (_, Some(threshold), Direction::HigherIsBetter) => Some(raw >= threshold),
            (_, Some(threshold), Direction::LowerIsBetter) => Some(raw <= threshold),
        }
    }

    /// Returns `true` if every score is replaced with 1 or 0.
    ///
    /// ```
    /// # use dsrs_metrics::{metrics::F1, prelude::*};
    /// assert!(!F1::SPEC.strict_mode());
    /// assert!(F1::default().with_threshold(0.8).strict().spec().strict_mode());
    /// ```
    pub const fn strict_mode(&self) -> bool {
        self.strict
    }

    /// Returns `true` if a larger reported score is better.
    ///
    /// For a strict metric, the result is always `true`, because a pass is 1.
    ///
    /// ```
    /// # use dsrs_metrics::contract::{Direction, MetricSpec};
    /// let wer = MetricSpec::new("wer").with_threshold(0.1).with_direction(Direction::LowerIsBetter);
    /// assert!(!wer.higher_is_better());
    /// assert!(wer.with_strict().higher_is_better());
    /// ```
    pub const fn higher_is_better(&self) -> bool {
        self.strict || matches!(self.direction, Direction::HigherIsBetter)
    }

    /// Returns the metric's properties on one line, as `list` prints them.
    ///
    /// The properties are the tier, kind, range, direction, threshold and cost. The macros append this line to the
    /// documentation of the metric's struct.
    ///
    /// ```
    /// use dsrs_metrics::contract::MetricSpec;
    ///
    /// let spec = MetricSpec::new("brevity").with_range(0.0, 1.0).with_threshold(0.5);
    /// assert_eq!(spec.properties(), "proxy, number in 0.0..=1.0, higher is better, threshold 0.5, free");
    /// ```
    pub fn properties(&self) -> String {
        let tier = format!("{:?}", self.tier).to_lowercase();
        let (kind, range) = match self.kind {
            ScoreKind::Bool => ("bool", None),
            ScoreKind::Number => ("number", self.range),
            ScoreKind::Corpus => ("one score for all rows", self.range),
        };
        let better = match self.higher_is_better() {
            true => "higher",
            false => "lower",
        };
        let range = range.map(|range| format!(" in {range}"));
        let threshold = self.threshold.map(|it| format!(", threshold {it:?}"));
        let (range, threshold) = (range.unwrap_or_default(), threshold.unwrap_or_default());
        let strict = if self.strict { ", strict" } else { "" };
        let cost = match self.cost_msats {
            0 => "free".to_owned(),
            cost => format!("{cost} msat a row"),
        };
        format!("{tier}, {kind}{range}, {better} is better{threshold}{strict}, {cost}")
    }
}

/// A field that a metric reads from a row.
///
/// The spec has the field's name and type, and says whether the field is required.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn cited(#[pred] answer: &str, #[pred] sources: Option<&[String]>) -> bool {
///     !answer.is_empty() && sources.is_some()
/// }
///
/// let [answer, sources] = Cited::SPEC.pred else { panic!("two fields") };
/// assert_eq!((answer.name, answer.ty, answer.required), ("answer", "&str", true));
/// assert!(!sources.required);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct FieldSpec<'a> {
    /// The field's name in the row.
    pub name: &'a str,
    /// The type as the metric's author wrote it, such as `&str`.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// `true` if a row must have the field.
    ///
    /// A row without the field is an error, or counts as incomplete (see [`may_be_missing`](Self::may_be_missing)).
    pub required: bool,
    /// `true` if a prediction without the required field is scored anyway.
    ///
    /// The prediction counts as incomplete. You can allow this by setting `missing` in `#[metric]` or `#[pred]`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_be_missing: bool,
    /// A description of the type for users who do not read Rust.
    #[serde(skip)]
    pub help: TypeHelp,
}

impl<'a> FieldSpec<'a> {
    /// Creates the spec for a field.
    ///
    /// ```
    /// use dsrs_metrics::contract::{FieldSpec, MetricSpec};
    ///
    /// const PRED: &[FieldSpec<'static>] = &[FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], PRED);
    /// assert_eq!(spec.required_fields().collect::<Vec<_>>(), ["pred.answer"]);
    /// ```
    pub const fn new(name: &'a str, ty: &'a str, required: bool) -> Self {
        Self {
            name,
            ty,
            required,
            may_be_missing: false,
            help: TypeHelp::NONE,
        }
    }

    /// Declares that a prediction without the required field is scored anyway.
    ///
    /// The prediction counts as incomplete.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::{FieldSpec, MetricSpec}, example, prediction};
    /// let answer = [FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], &answer);
    /// assert!(!spec.can_evaluate(&example! {}, &prediction! {}));
    ///
    /// let answer = answer.map(FieldSpec::or_missing);
    /// assert!(spec.with_fields(&[], &answer).can_evaluate(&example! {}, &prediction! {}));
    /// ```
    pub const fn or_missing(mut self) -> Self {
        self.may_be_missing = true;
        self
    }

    /// Returns `true` if a row without the field is an error.
    pub(crate) const fn is_needed(&self) -> bool {
        self.required && !self.may_be_missing
    }

    /// Merges another component's spec for the same field. The field is required if either component requires it, and
    /// may be missing unless that is an error for either.
    pub(crate) const fn merge(&mut self, other: &FieldSpec<'_>) {
        let is_needed = self.is_needed() || other.is_needed();
        self.required |= other.required;
        self.may_be_missing = self.required && !is_needed;
    }

    /// Sets the type's description.
    ///
    /// ```
    /// # use dsrs_metrics::{contract::FieldSpec, rows::TypeHelp};
    /// let limit = FieldSpec::new("limit", "Limit", true).with_help(TypeHelp::new("a number of characters"));
    /// assert_eq!(limit.help.to_string(), "a number of characters");
    /// ```
    pub const fn with_help(mut self, help: TypeHelp) -> Self {
        self.help = help;
        self
    }
}

/// A parameter of a metric, declared with `#[param]`.
///
/// ```
/// use dsrs_metrics::prelude::*;
///
/// #[metric]
/// fn brief(
///     #[pred] answer: &str,
///     /// The largest number of characters.
///     #[param(default = 280)]
///     limit: usize,
/// ) -> bool {
///     answer.chars().count() <= limit
/// }
///
/// let limit = &Brief::SPEC.params[0];
/// assert_eq!((limit.name, limit.ty, limit.default), ("limit", "usize", Some("280")));
/// assert_eq!(limit.doc, "The largest number of characters.");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct ParamSpec<'a> {
    /// The parameter's name, as in `--param NAME.KEY=VALUE`.
    pub name: &'a str,
    /// The type as the metric's author wrote it.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// A description of the type for users who do not read Rust.
    #[serde(skip)]
    pub help: TypeHelp,
    /// The default as the metric's author wrote it.
    ///
    /// `None` if the parameter is required.
    pub default: Option<&'a str>,
    /// The parameter's documentation.
    pub doc: &'a str,
    /// The fields whose names the parameter sets, as `(side, position)` pairs.
    #[doc(hidden)]
    #[serde(skip)]
    pub names: &'a [(Side, usize)],
}

impl<'a> ParamSpec<'a> {
    /// Creates the spec for a parameter whose type is described only by `ty`.
    #[doc(hidden)]
    pub const fn new(name: &'a str, ty: &'a str, default: Option<&'a str>, doc: &'a str) -> Self {
        Self {
            name,
            ty,
            help: TypeHelp::NONE,
            default,
            doc,
            names: &[],
        }
    }

    /// Returns `true` if the parameter names the prediction's field at this position.
    pub(crate) fn names_prediction(&self, position: usize) -> bool {
        self.names.contains(&(Side::Pred, position))
    }
}

/// The side of a row that a field belongs to.
///
/// ```
/// use dsrs_metrics::contract::Side;
///
/// assert_eq!(format!("{}.answer", Side::Pred), "pred.answer");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The labelled example.
    Gold,
    /// The program's prediction.
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

/// Returns a composite's fingerprint.
///
/// The fingerprint is computed from the composite's expression and each component's code and version.
pub const fn combined_code(expression: u64, components: &[MetricSpec<'_>]) -> u64 {
    let mut hash = added(0xcbf2_9ce4_8422_2325, &expression.to_le_bytes());
    let mut index = 0;
    while index < components.len() {
        let MetricSpec { code, version, .. } = components[index];
        hash = match code {
            Some(code) => added(hash, &code.to_le_bytes()),
            None => added(hash, b"unknown"),
        };
        hash = added(hash, version.as_bytes());
        index += 1;
    }
    hash
}

/// Returns the fingerprint of a composite whose expression is compared by other values, or `None` if no component has a
/// fingerprint.
pub(crate) const fn code_of_components(components: &[MetricSpec<'_>]) -> Option<u64> {
    let mut index = 0;
    while index < components.len() {
        if components[index].code.is_some() {
            return Some(combined_code(0, components));
        }
        index += 1;
    }
    None
}

/// Adds bytes and a terminating byte to an FNV-1a hash.
const fn added(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut index = 0;
    while index <= bytes.len() {
        let byte = if index < bytes.len() {
            bytes[index]
        } else {
            0xff
        };
        hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
        index += 1;
    }
    hash
}

/// Serializes a fingerprint as 16 hexadecimal digits, because some JSON readers don't keep all 64 bits of a number.
#[expect(clippy::ref_option, reason = "required by serde")]
fn serialize_code<S: Serializer>(code: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match code {
        Some(code) => to.collect_str(&format_args!("{code:016x}")),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_composite_depends_on_each_component_and_its_version() {
        let known = MetricSpec::new("a").with_code(1);
        let all = [
            combined_code(0, &[]),
            combined_code(1, &[known]),
            combined_code(2, &[known]),
            combined_code(1, &[known.with_code(2)]),
            combined_code(1, &[known.with_version("2")]),
            combined_code(1, &[MetricSpec::new("a")]),
            combined_code(1, &[known, known]),
        ];
        let distinct: std::collections::HashSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert!(code_of_components(&[MetricSpec::new("a"), known]).is_some());
        assert_eq!(code_of_components(&[MetricSpec::new("a")]), None);
        // Manifests contain this value.
        assert_eq!(combined_code(1, &[known]), 0xb81d_aa67_c802_f891);
    }

    #[test]
    fn a_fingerprint_is_hexadecimal_digits() {
        let json = |spec| serde_json::to_value(spec).unwrap();
        let spec = MetricSpec::new("a");
        assert_eq!(json(spec.with_code(0xff))["code"], "00000000000000ff");
        assert_eq!(json(spec).get("code"), None);
    }
}
