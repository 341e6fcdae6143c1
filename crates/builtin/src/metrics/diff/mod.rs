//! The `diff` metric, which compares an answer with the expected answer.
//!
//! Answers are compared by characters, words, syntax tree or meaning.
//!
//! The metric does not use `#[metric]`, because it is asynchronous only at the strictness that calls a language model.
//!
//! The file is long because it writes out the builder, parameters and contract. `compare.rs` contains the comparison.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use self::compare::{NO_LANGUAGE, compare, expected};
use super::inputs as field;
use super::inputs::LanguageSetting;
use crate::contract::__private::shown;
use crate::contract::declared::Declaration;
use crate::contract::metric::params::ParamType as _;
use crate::contract::rows::by_name;
use crate::contract::{
    Answer, Check, Configure, Configured, Decided, Declared, Example, FieldSpec, GoldRows, Key,
    Metric, MetricCall, MetricError, MetricReturn, MetricScore, MetricSpec, MetricTier, ParamError,
    ParamSpec, Params, PredRows, Prediction, Requirement, Result, ScoreKind, ScoredAtOnce, Side,
    Unscored, ValueType as _,
};
use crate::judge;
use crate::judge::configured::{PANEL, read_panel};
use crate::judge::{Aggregation, IntoModel, Judged, Panel, Untrusted};
use crate::metrics::answers::StrOrList;
use crate::shipped::{
    EquivalenceOfAnswersInput, References, SemanticEquivalence, TextOrList, require,
};

mod compare;

/// How strictly two strings are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DiffStrictness {
    /// The strings must be identical.
    Exact,
    /// The strings can differ in whitespace.
    ///
    /// Any amount of whitespace counts as one space, and both ends are trimmed. `a b` is not equal to `ab`.
    #[default]
    NormalizedWhitespace,
    /// The strings can differ in layout and comments, but their syntax trees must be equal.
    ///
    /// This strictness costs 10 msat per row. It requires a language and the `syntax` feature.
    AstEquivalent,
    /// The strings can differ in everything except their meaning.
    ///
    /// The [`SemanticEquivalence`] judge compares the meaning. This strictness costs at most 50 msat per row.
    Semantic,
}

impl DiffStrictness {
    /// Returns the explanation for a pass.
    const fn passed(self) -> &'static str {
        match self {
            Self::Exact => "the answer is identical",
            Self::NormalizedWhitespace | Self::Semantic => {
                "the answer is identical except for white space"
            }
            Self::AstEquivalent => "the syntax trees are equal",
        }
    }
}

/// A metric that compares the answer with the expected answer.
///
/// If the answers differ, the feedback shows a line diff.
///
/// The result is pass or fail. The metric compares the strings `gold.answer` and `pred.answer`. To compare a different
/// field of both rows, set `field`.
///
/// If the gold value is a list, the answer must equal one of its strings. The diff then shows the first string.
///
/// The strictness `ast_equivalent` compares syntax trees, as described at
/// [`Language::compare`](crate::syntax::Language::compare). The `language` is `rust`, `python`, `javascript`,
/// `typescript`, `json`, `sql` or `bash`.
///
/// An answer that does not parse fails. An expected answer that does not parse is an error.
///
/// ```
/// use dsrs_metrics::metrics::{Diff, DiffStrictness};
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let metric = Diff::builder().strictness(DiffStrictness::NormalizedWhitespace).field("answer").build();
/// let gold = example! { "answer" => "one two\nthree" };
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => " one  two three\n" })?.value, 1.0);
/// assert_eq!(metric.score(&gold, &prediction! { "answer" => "one twothree" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
///
/// The strictness `semantic` calls the [`SemanticEquivalence`] judge. The judge asks a language model whether both
/// strings have the same meaning.
///
/// The metric accepts the judge's settings, such as `with_lm`, `offline`, `models` and `aggregation`.
///
/// If the strings differ only in whitespace, they count as equal, and the metric calls no model.
///
/// The score's details contain the judge's reasoning and the diff.
///
/// The metric is asynchronous only at the strictness `semantic`:
///
/// ```
/// use dsrs_metrics::lm::ScriptedLm;
/// use dsrs_metrics::metrics::{Diff, DiffStrictness};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let lm = ScriptedLm::new().otherwise(r#"{ "reasoning": "6 is six.", "equivalent": true }"#);
/// let metric = Diff::builder().strictness(DiffStrictness::Semantic).with_lm(lm).build();
/// let score = metric.evaluate(&example! { "answer" => "six" }, &prediction! { "answer" => "6" }).await?;
/// assert_eq!(score.value, 1.0);
/// assert_eq!(score.details.as_deref(), Some("6 is six.\n--- expected\n+++ answer\n-six\n+6"));
/// # Ok(())
/// # }
/// ```
///
/// You can't use `diff` with `semantic` in a `#[metric]` composite. The compiler must know what the composite costs and
/// whether it is asynchronous. Use the `semantic_equivalence` component instead.
#[derive(Debug, Clone, PartialEq)]
pub struct Diff {
    /// How strictly the strings are compared.
    pub strictness: DiffStrictness,
    /// The language of both strings, for [`DiffStrictness::AstEquivalent`].
    pub language: LanguageSetting,
    /// The name of the field that is compared in both rows.
    pub field: String,
    /// The panel of judges, for [`DiffStrictness::Semantic`].
    pub panel: Panel,
}

impl Default for Diff {
    fn default() -> Self {
        Self {
            strictness: DiffStrictness::default(),
            language: LanguageSetting::default(),
            field: FIELD.to_owned(),
            panel: Panel::default(),
        }
    }
}

const MUST_BE_AWAITED: &str = "with `semantic`, the metric is asynchronous because it calls a language model; write `.evaluate(&gold, &pred).await`";

const IN_COMPOSITE: &str = "with `semantic`, the metric is asynchronous and costs up to 50 msat, which a declared composite must know at compile time; use `semantic_equivalence` or `Composite::builder` instead";

impl Diff {
    /// Creates a builder for the metric.
    pub fn builder() -> Self {
        Self::default()
    }

    /// Builds the metric.
    pub fn build(self) -> Self {
        self
    }

    setters! {
        /// Sets how strictly the strings are compared.
        ///
        /// The default is [`DiffStrictness::NormalizedWhitespace`].
        pub fn strictness(strictness: DiffStrictness) => strictness = strictness;

        /// Sets the language of both strings, for [`DiffStrictness::AstEquivalent`].
        ///
        /// Pass a language or its name.
        pub fn language(language: impl Into<LanguageSetting>) => language = language.into();

        /// Sets the name of the field to compare in both rows.
        ///
        /// The default is `answer`.
        pub fn field(field: impl Into<String>) => field = field.into();
    }

    setters! {
        /// Sets the model to call if the panel doesn't name one.
        ///
        /// This setting applies only to [`DiffStrictness::Semantic`].
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Scores by token overlap instead of calling a model.
        ///
        /// Every result is labelled as offline.
        ///
        /// This setting applies only to [`DiffStrictness::Semantic`].
        pub fn offline() in panel.offline;

        /// Sets the panel's models.
        ///
        /// The metric calls all of them, and the majority decides.
        pub fn models(models: impl IntoIterator<Item = impl IntoModel>) in panel.models;

        /// Sets how to combine the verdicts of several judges.
        pub fn aggregation(aggregation: Aggregation) in panel.aggregation;

        /// Sets the maximum number of judges called concurrently.
        ///
        /// A limit of 0 is treated as 1.
        pub fn max_concurrent_judges(limit: usize) in panel.max_concurrent_judges;

        /// Sets the minimum number of judges that must return a verdict.
        ///
        /// A row with fewer verdicts has no score.
        pub fn quorum(quorum: usize) in panel.quorum;
    }

    /// Compares a prediction with a gold row, without calling a model.
    ///
    /// # Errors
    /// Returns an error if a gold field is missing, if the expected answer does not parse, or if the comparison needs a
    /// model.
    pub fn score(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
        let pending = || Err(MetricError::failed(Self::SPEC.name, MUST_BE_AWAITED));
        let answer = self.answer(MetricCall::new(gold, pred));
        Ok(answer.ready().unwrap_or_else(pending)?.into_score())
    }

    /// Compares a prediction with a gold row, calling a model if necessary.
    ///
    /// # Errors
    /// Returns the same errors as [`score`](Self::score), except that this method can call a model. If the judge fails
    /// or abstains, it also returns an error.
    pub async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    }

    /// Returns the spec at this strictness, with its cost.
    const fn declared(&self) -> &'static MetricSpec<'static> {
        match self.strictness {
            DiffStrictness::Semantic => {
                const {
                    &Self::SPEC
                        .with_cost_msats(SemanticEquivalence::SPEC.cost_msats)
                        .with_async()
                }
            }
            DiffStrictness::AstEquivalent => &Self::SPEC,
            _ => Self::FREE,
        }
    }

    fn is_semantic(&self) -> bool {
        self.strictness == DiffStrictness::Semantic
    }

    /// Returns a requirement if the language is unknown, or if it is needed but is missing or has no parser.
    fn missing_language(&self) -> Option<Requirement> {
        let usable = match self.strictness {
            DiffStrictness::AstEquivalent => {
                let parser = self.language.parser();
                parser.and_then(|it| it.map(drop).ok_or_else(|| NO_LANGUAGE.to_owned()))
            }
            _ => self.language.language().map(drop),
        };
        Requirement::unless(Self::SPEC.name, usable)
    }

    fn compared(&self, call: MetricCall<'_>) -> Result<Check, Unscored> {
        let expected = expected(&call.gold.data, &self.field)?;
        let found = field::text(&call.pred.data, Side::Pred, &self.field)?;
        let language = self.language.language().map_err(Unscored::Because)?;
        let (strictness, is_explained) = (self.strictness, call.is_explained());
        compare(strictness, language, &expected, &found, is_explained)
    }

    /// Returns the judge's result if the answers differ.
    async fn judged(&self, gold: &Example, pred: &Prediction) -> Result<Judged<bool>, Unscored> {
        let expected = expected(&gold.data, &self.field)?;
        let found = field::text(&pred.data, Side::Pred, &self.field)?;
        let expected: Vec<String> = expected.into_iter().map(Into::into).collect();
        let input = EquivalenceOfAnswersInput {
            expected: Untrusted::new(References::from(expected)),
            actual: Untrusted::new(TextOrList::Text(found.into_owned())),
        };
        Ok(judge::row(&self.judge(), &input).await)
    }

    fn judge(&self) -> SemanticEquivalence {
        let panel = self.panel.clone();
        SemanticEquivalence { panel }
    }
}

impl Configured for Diff {
    fn has_same_parameters(&self, other: &Self) -> bool {
        self == other
    }

    fn parameters(&self) -> Vec<(&'static str, Option<String>)> {
        let mut all = self.panel.shown();
        all.extend([
            ("strictness", shown(&self.strictness)),
            ("language", shown(&self.language)),
            ("field", Some(self.field.clone())),
        ]);
        all
    }
}

#[async_trait]
impl Metric for Diff {
    fn name(&self) -> &str {
        Self::SPEC.name
    }

    fn declaration(&self) -> Option<&dyn Declaration> {
        Some(self)
    }

    fn cost_estimate(&self) -> u64 {
        match self.is_semantic() {
            true => Declaration::max_cost(&self.judge()),
            false => self.declared().cost_msats,
        }
    }

    fn spec(&self) -> MetricSpec<'_> {
        let fields = [Side::Gold, Side::Pred].map(|side| ((side, 0), &*self.field));
        by_name::configured(*self.declared(), &fields)
    }

    async fn evaluate(&self, gold: &Example, pred: &Prediction) -> Result<MetricScore> {
        Self::evaluate(self, gold, pred).await
    }

    fn answer<'a>(&'a self, call: MetricCall<'a>) -> Answer<'a> {
        let diff = match self.compared(call) {
            Ok(Check {
                passed: false,
                feedback: diff,
            }) if self.is_semantic() => diff,
            compared => {
                // No model is called.
                let spec = match self.is_semantic() {
                    true => Self::FREE,
                    false => self.declared(),
                };
                let scored = compared.into_scored(call.spec(spec));
                return Answer::from(scored.map(|scored| match scored.passed {
                    Some(true) if call.is_explained() => {
                        scored.explained(self.strictness.passed().to_owned())
                    }
                    _ => scored,
                }));
            }
        };
        Answer::pending(async move {
            let judged = self.judged(call.gold, call.pred).await;
            let scored = judged.into_scored(call.spec(&Metric::spec(self)))?;
            Ok(diff
                .iter()
                .fold(scored, |scored, diff| scored.with_findings(diff)))
        })
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.missing_language());
        if self.is_semantic() {
            require(&self.judge(), Self::SPEC.name, all);
        }
    }
}

impl<GoldRow> ScoredAtOnce<GoldRow> for Diff {}

/// `#[metric]` composites use this. They support the strictness levels that the `const` spec covers.
impl Declared for Diff {
    type Verdict = Decided;
    type OverGold = GoldRows<Example>;
    type OverPred = PredRows<Prediction>;
    type Start = Self;

    const SPEC: MetricSpec<'static> = Self::SPEC;

    fn spec(&self) -> MetricSpec<'static> {
        *self.declared()
    }

    fn start() -> Self {
        Self::default()
    }

    fn key(&self) -> Option<Key> {
        Some(Key::of(self))
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.missing_language());
        if self.is_semantic() {
            all.push(Requirement::missing(Self::SPEC.name, IN_COMPOSITE));
        }
    }
}

const DOC: &str = "Compares the answer with the expected one, with a line diff in the feedback if it does not.

Reads the strings `gold.answer` and `pred.answer`, or the field set by `field`, on both sides. If gold is a list, the answer must equal any of its strings.

`ast_equivalent` costs 10 msat per row. `semantic` calls a language model, for at most 50 msat per row. Strings that differ only in white space are equal without a call.";

const FIELD: &str = "answer";

/// The cost of comparing two syntax trees, in millisatoshis.
const AST_MSATS: u64 = 10;

const STRICTNESS: ParamSpec<'static> = ParamSpec::new(
    "strictness",
    "exact | normalized_whitespace | ast_equivalent | semantic",
    Some("normalized_whitespace"),
    "How much may differ.",
);

const LANGUAGE: ParamSpec<'static> = ParamSpec::new(
    "language",
    "rust | python | javascript | typescript | json | sql | bash",
    Some("null"),
    "The language of both sides, for `ast_equivalent`.",
);

const COMPARED: ParamSpec<'static> = ParamSpec {
    help: String::HELP,
    names: &[(Side::Gold, 0), (Side::Pred, 0)],
    ..ParamSpec::new(
        "field",
        "String",
        Some(FIELD),
        "The field to compare on both sides.",
    )
};

const GOLD: FieldSpec<'static> =
    FieldSpec::new(FIELD, "StrOrList<'_>", true).with_help(StrOrList::HELP);
const PRED: FieldSpec<'static> = FieldSpec::new(FIELD, "&str", true)
    .or_missing()
    .with_help(str::HELP);

const PARAMS: [ParamSpec<'static>; 7] = {
    let [models, aggregation, limit, quorum] = PANEL;
    let aggregation = ParamSpec {
        default: Some("majority"),
        ..aggregation
    };
    [
        STRICTNESS,
        LANGUAGE,
        COMPARED,
        models,
        aggregation,
        limit,
        quorum,
    ]
};

impl Diff {
    /// The metric's spec at every strictness level except [`DiffStrictness::Semantic`].
    ///
    /// This spec contains the cost of [`DiffStrictness::AstEquivalent`], the most expensive strictness level that calls
    /// no model. For a configured metric's spec and cost, use [`Metric::spec`].
    pub const SPEC: MetricSpec<'static> = MetricSpec::new("diff")
        .with_doc(DOC)
        .with_tier(MetricTier::Truth)
        .with_cost_msats(AST_MSATS)
        .with_kind(ScoreKind::Bool)
        .with_fields(&[GOLD], &[PRED])
        .with_params(&PARAMS);

    const FREE: &'static MetricSpec<'static> = &Self::SPEC.with_cost_msats(0);
}

impl Configure for Diff {
    const SPEC: MetricSpec<'static> = Self::SPEC;

    fn configure(params: &Params) -> Result<Self, ParamError> {
        let spec = &Self::SPEC;
        params.check(spec)?;
        Ok(Self {
            strictness: <_>::read(params, spec, &STRICTNESS, Some(DiffStrictness::default))?,
            language: <_>::read(params, spec, &LANGUAGE, Some(LanguageSetting::default))?,
            field: <_>::read(params, spec, &COMPARED, Some(|| FIELD.to_owned()))?,
            panel: read_panel(params, spec)?,
        })
    }
}
